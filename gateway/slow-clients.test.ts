// Clients that ask for much and do not read it: what the gateway holds for them is limited, and others are served.

import { once } from "node:events"
import { connect, type TLSSocket } from "node:tls"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import type { ConfigMap } from "../apimachinery/object.ts"
import { configMaps } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import { startTestGateway, type TestGateway, type TestTenant } from "./testing/start-gateway.ts"

const MiB = 1024 * 1024
const objects = 16
const clients = 60
/** Twice what 8 lists hold: a piece of 8 MiB each, and what is made of it. All clients together would hold more than a gigabyte. */
const maxHeld = 300 * MiB

let fixture: TestGateway
let greedy: TestTenant
let api: KubeClient

const text = (name: string, letter: string): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "default", name },
  data: { text: letter.repeat(1_000_000) },
})

beforeAll(async () => {
  fixture = await startTestGateway({ superCluster: false, limits: { requestTimeoutMs: 5_000 } })
  greedy = await fixture.createTenant("greedy", { controllers: false })
  api = fixture.gateway.tenants.client("greedy")
  for (let index = 0; index < objects; index++) await api.create(configMaps, text(`c${index}`, "x"))
})

afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
})

async function ask(path: string): Promise<TLSSocket> {
  const { hostname, port } = new URL(fixture.url)
  const { certificate, key } = greedy
  const socket = connect({
    host: hostname,
    port: Number(port),
    ca: fixture.gateway.certificateAuthority,
    checkServerIdentity: () => undefined,
    ...(certificate === undefined || key === undefined ? {} : { cert: certificate, key }),
  })
  onTestFinished(() => void socket.destroy())
  socket.on("error", () => undefined) // it is closed by the gateway
  await once(socket, "secureConnect")
  socket.write(`GET /tenants/greedy/api/v1/${path} HTTP/1.1\r\nhost: a\r\n\r\n`)
  return socket
}

const held = (): number => process.memoryUsage().arrayBuffers

describe.each(["configmaps", "configmaps?watch=true", "configmaps?pretty=true&limit=500"])("of %s", (path) => {
  test("hold little, and another tenant is served", async () => {
    const before = held()
    const other = await fixture.createTenant(`other-${path.length}`, { controllers: false })
    const sockets: TLSSocket[] = []
    let most = 0
    for (let index = 0; index < clients; index++) {
      sockets.push(await ask(path))
      most = Math.max(most, held() - before)
    }
    const version = `/tenants/${other.tenant.name}/api/v1/namespaces`
    for (let round = 0; round < 10; round++) {
      expect((await fixture.request(version, other)).code).toBe(200)
      most = Math.max(most, held() - before)
    }
    expect(most).toBeLessThan(maxHeld)
  })
})

test("a client that does not take its answer is disconnected when the request's time is over", async () => {
  const socket = await ask("configmaps?pretty=true")
  // Read only as far as the connection's buffers, until the gateway has ended it.
  await new Promise((resolve) => setTimeout(resolve, 6_000))
  socket.resume()
  let bytes = 0
  socket.on("data", (chunk: Buffer) => (bytes += chunk.length))
  await once(socket, "close")
  expect(bytes).toBeLessThan(objects * 1_000_000)
})

test("a watch that is not read holds no changes beyond its limit, and gets all of them when it is read", async () => {
  await api.create(configMaps, text("changed", "a"))
  const { metadata } = await api.get<ConfigMap>(configMaps, "default", "changed")
  const socket = await ask(`configmaps?watch=true&resourceVersion=${metadata.resourceVersion}`)
  const before = held()
  const letters = "bcdefghijklmnopqrstuvwxyz".repeat(4)
  for (const letter of letters)
    await api.patch(configMaps, "default", "changed", { data: { text: letter.repeat(1_000_000) } }, { type: "merge" })
  expect(held() - before).toBeLessThan(maxHeld)
  let seen = ""
  socket.setEncoding("latin1")
  socket.on("data", (piece: string) => (seen += (piece.match(/"text":"./g) ?? []).join("")))
  await expect.poll(() => seen.replaceAll('"text":"', "").length, { timeout: 20_000 }).toBeGreaterThan(90)
})
