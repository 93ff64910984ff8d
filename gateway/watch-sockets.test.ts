// Watches over WebSockets: what is opened, what comes, and that nothing is left of those who have gone. Compared with
// kube-apiserver's in test/kubernetes/differential/protocol/web-sockets.ts.

import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import { afterAll, beforeAll, expect, test } from "vitest"
import { WebSocket } from "ws"
import { configMaps } from "../client/resources.ts"
import { startTestGateway, type TestGateway, type TestTenant } from "./testing/start-gateway.ts"

const maxLongRunning = 2
let fixture: TestGateway
let tenant: TestTenant
beforeAll(async () => {
  fixture = await startTestGateway({ limits: { maxLongRunning } })
  tenant = await fixture.createTenant("a", { controllers: false })
})
afterAll(() => fixture[Symbol.asyncDispose]())

const path = "/tenants/a/api/v1/namespaces/default/configmaps?watch=1"

function open(headers: Record<string, string> = {}, protocols: string[] = []): WebSocket {
  return new WebSocket(`${fixture.url.replace(/^http/, "ws")}${path}`, protocols, {
    ca: fixture.gateway.certificateAuthority,
    cert: tenant.certificate,
    key: tenant.key,
    headers: { origin: "https://example.com", ...headers },
  })
}

/** 101, or the code of the refusal. */
async function codeOf(client: WebSocket): Promise<number | undefined> {
  const refused = once(client, "unexpected-response") as Promise<[unknown, IncomingMessage]>
  return Promise.race([
    once(client, "open").then(() => 101),
    refused.then(([, response]) => {
      response.destroy()
      return response.statusCode
    }),
  ])
}

test("each event is a message", async () => {
  const client = open()
  const messages: unknown[] = []
  client.on("message", (data: Buffer, isBinary) => messages.push(isBinary ? data : JSON.parse(data.toString())))
  await once(client, "open")
  const metadata = { namespace: "default", name: "told" }
  await fixture.gateway.tenants.client("a").create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata })
  await expect.poll(() => messages.at(-1), { timeout: 30_000 }).toMatchObject({ type: "ADDED", object: { metadata } })
  client.close()
  await once(client, "close")
})

test("protobuf messages have no length prefix", async () => {
  const client = open({ accept: "application/vnd.kubernetes.protobuf;stream=watch" })
  const [data, isBinary] = (await once(client, "message")) as [Buffer, boolean]
  expect([isBinary, data.subarray(0, 7).toString("latin1")]).toEqual([true, "\n\u0005ADDED"])
  client.close()
  await once(client, "close")
})

test.each<[string, Record<string, string>, string[], number]>([
  ["without an origin", { origin: "" }, [], 403],
  ["with several protocols", {}, ["a", "b"], 400],
  ["with one", {}, ["a"], 101],
])("%s", async (_what, headers, protocols, code) => {
  const client = open(headers, protocols)
  expect(await codeOf(client)).toBe(code)
  client.terminate()
})

test("disconnected clients do not count against the limit", async () => {
  for (const end of ["close", "terminate", "close"] as const) {
    const clients: WebSocket[] = []
    const attempt = async (): Promise<boolean> => {
      const client = open()
      const isOpen = (await codeOf(client)) === 101
      if (isOpen) clients.push(client)
      return isOpen
    }
    while (clients.length < maxLongRunning) await expect.poll(attempt, { timeout: 30_000 }).toBe(true)
    expect(await codeOf(open())).toBe(429)
    for (const client of clients) client[end]()
  }
})
