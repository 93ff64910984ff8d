// A tenant to which a client sends whatever it likes: the response is a success or a client error, there is no line in the error log,
// and other requests are still served. What is sent is random; the seed is printed, and SEED= repeats a run.

import type { IncomingHttpHeaders } from "node:http"
import { Agent, request as httpsRequest } from "node:https"
import { afterAll, beforeAll, expect } from "vitest"
import { seedOf } from "../../apimachinery/testing/random.ts"
import { silentLog } from "../../client/log.ts"
import { eventually } from "../harness/eventually.ts"
import { startTestGateway, type TestGateway } from "../../gateway/testing/start-gateway.ts"

export const seed = seedOf()
const errors: object[] = []
const log = { ...silentLog, error: (fields: object) => errors.push(fields) }
/** Number of random cases per description; all of them together take some seconds. */
export const rounds = 60

export const json = "application/json"
export const yaml = "application/yaml"
export const protobuf = "application/vnd.kubernetes.protobuf"
export const configMaps = "/api/v1/namespaces/default/configmaps"
export const things = "/apis/example.com/v1/namespaces/default/things"

let gateway: TestGateway
let agent: Agent

/** All tests of the file share the tenant. */
export function useTenant(): void {
  beforeAll(async () => {
    errors.length = 0
    gateway = await startTestGateway({ log })
    const { certificate = "", key = "" } = await gateway.createTenant("a", { controllers: false })
    const ca = gateway.gateway.certificateAuthority
    agent = new Agent({ keepAlive: true, ca, cert: certificate, key, checkServerIdentity: () => undefined })
    await send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      kind: "CustomResourceDefinition",
      apiVersion: "apiextensions.k8s.io/v1",
      metadata: { name: "things.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: "object",
                properties: {
                  free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                  list: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
                  text: { type: "string", pattern: "^(a+)+$", default: "aaa" },
                },
              },
            },
          },
        ],
      },
    })
    await eventually(async () => (await send("GET", "/apis/example.com/v1/things")).code === 200)
  })
  afterAll(async () => {
    agent?.destroy()
    await gateway?.[Symbol.asyncDispose]()
  })
}

/** That nothing of all that was sent so far was an error of the server, and no prototype is polluted. */
export async function expectNoErrors(): Promise<void> {
  expect(errors, `SEED=${seed}`).toEqual([])
  expect(({} as { a?: unknown; kind?: unknown; x?: unknown }).a).toBeUndefined()
  expect(Object.keys(Object.prototype)).toEqual([])
  expect((await send("GET", "/readyz")).code).toBe(200)
}

interface Answer {
  code: number
  headers: IncomingHttpHeaders
  text: string
}

/** Uses keep-alive connections: a handshake per request would take most of the time. */
export function send(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const raw = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body)
  const length = raw === undefined ? {} : { "content-length": String(Buffer.byteLength(raw)) }
  const type = raw === undefined ? {} : { "content-type": json }
  const { hostname, port } = new URL(gateway.url)
  const all = { ...type, ...length, ...headers }
  return new Promise((resolve, reject) => {
    const target = { agent, hostname, port, method, path: `/tenants/a${path}`, headers: all }
    const request = httpsRequest(target, (response) => {
      const chunks: Buffer[] = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("error", reject)
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString()
        resolve({ code: response.statusCode ?? 0, headers: response.headers, text })
      })
    })
    request.on("error", reject)
    request.end(raw)
  })
}

export async function checkFault(what: string, answer: Promise<Answer>): Promise<void> {
  const { code, text, headers } = await answer
  const told = `SEED=${seed}: ${what}: ${code} ${text.slice(0, 300)}`
  expect(code, told).toBeGreaterThanOrEqual(200)
  const isStatus = headers["content-type"] === json && code >= 400 && text !== ""
  const status = isStatus ? (JSON.parse(text) as { kind: string; code: number; reason?: string }) : undefined
  if (status !== undefined) expect(status, told).toMatchObject({ kind: "Status", code })
  // Upstream answers some client errors with 500 without a reason, and requests for future resource versions with 504.
  const isUpstreams = (code === 500 && status?.reason === undefined) || (code === 504 && status?.reason === "Timeout")
  if (!isUpstreams) expect(code, told).toBeLessThan(500)
}
