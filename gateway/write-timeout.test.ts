// The time limit of writes, with a whole gateway and a webhook that does not answer.

import { once } from "node:events"
import { connect } from "node:http2"
import { buffer } from "node:stream/consumers"
import { afterAll, beforeAll, expect, test } from "vitest"
import { localNetworks } from "./backends/networks.ts"
import { type RawAnswer, startTestGateway, type TestGateway, type TestTenant } from "./testing/start-gateway.ts"
import { reviewed, WebhookServer } from "./testing/webhook-server.ts"

const writeTimeoutMs = 1500
const secrets = "/api/v1/namespaces/default/secrets"
const configuration = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"

let gateway: TestGateway
let tenant: TestTenant
let server: WebhookServer
/** Whether the webhook waits for its end. */
let isSilent = false
const end = Promise.withResolvers<void>()

function call(method: string, path: string, body?: unknown): Promise<RawAnswer> {
  return gateway.request(`/tenants/a${path}`, { ...tenant, method, ...(body === undefined ? {} : { body }) })
}

beforeAll(async () => {
  gateway = await startTestGateway({ allowedNetworks: localNetworks, limits: { writeTimeoutMs } })
  tenant = await gateway.createTenant("a")
  server = await WebhookServer.start((given) => ({
    ...reviewed(given, {}),
    ...(isSilent ? { wait: end.promise } : {}),
  }))
  const { code } = await call("POST", configuration, {
    metadata: { name: "a" },
    webhooks: [
      {
        name: "a.example.com",
        clientConfig: { url: server.url, caBundle: server.caBundle },
        rules: [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["secrets"] }],
        timeoutSeconds: 30,
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
      },
    ],
  })
  expect(code).toBe(201)
})

afterAll(async () => {
  end.resolve()
  await gateway?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

test("webhooks are told the time that the write has left", async () => {
  expect((await call("POST", secrets, { metadata: { name: "a" } })).code).toBe(201)
  expect(server.calls.map(({ path }) => path)).toEqual([expect.stringMatching(/^\/\?timeout=[12]s$/)])
})

test("writes of one object end with 504", async () => {
  const writes: [method: string, path: string, body?: unknown][] = [
    ["POST", secrets, { metadata: { name: "b" } }],
    ["PUT", `${secrets}/a`, { metadata: { name: "a", labels: { a: "b" } } }],
    ["DELETE", `${secrets}/a`],
  ]
  isSilent = true
  const answers = await Promise.all(writes.map((write) => call(...write)))
  isSilent = false
  for (const [index, { code, json }] of answers.entries())
    expect([code, json()], writes[index]?.[0]).toMatchObject([
      504,
      {
        kind: "Status",
        reason: "Timeout",
        message: "Timeout: request did not complete within requested timeout - context deadline exceeded",
      },
    ])
})

test("the deletion of a collection has more time", async () => {
  server.calls.length = 0
  expect((await call("DELETE", secrets)).code).toBe(200)
  expect(server.calls.map(({ path }) => path)).toEqual(["/?timeout=30s"])
})

test("a write that has been answered in time is answered whole, however late its client reads", async () => {
  const client = connect(gateway.url, {
    ca: gateway.gateway.certificateAuthority,
    cert: tenant.certificate,
    key: tenant.key,
  })
  const body = JSON.stringify({ metadata: { name: "large" }, data: { text: "x".repeat(900_000) } })
  const stream = client.request({ ":method": "POST", ":path": "/tenants/a/api/v1/namespaces/default/configmaps" })
  stream.end(body)
  const [headers] = (await once(stream, "response")) as [Record<string, string>]
  // It begins later, and its time has passed.
  isSilent = true
  expect((await call("POST", secrets, { metadata: { name: "later" } })).code).toBe(504)
  isSilent = false
  expect([headers[":status"], (await buffer(stream)).length]).toEqual([201, Number(headers["content-length"])])
  client.close()
})
