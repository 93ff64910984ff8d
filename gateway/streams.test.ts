// Streams through the gateway to a node: an exec, a log, a port-forward, the connection of a proxy. They end with either side, with their
// tenant, and with the gateway, and nothing of them stays.

import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer, type Server } from "node:https"
import type { AddressInfo, Socket } from "node:net"
import type { TLSSocket } from "node:tls"
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest"
import type { KubeObject } from "../apimachinery/object.ts"
import { nodes, pods } from "../client/resources.ts"
import { createAuthority, issueServingCertificate } from "./pki/pki.ts"
import { askRaw } from "./testing/raw-request.ts"
import { startTestGateway, type TestGateway, type TestTenant } from "./testing/start-gateway.ts"

let gateway: TestGateway
let tenant: TestTenant
let node: Server
/** Called when the node is asked whether it is there, which it does not answer. */
let probed: () => void = () => undefined
/** The node's connections. */
const sockets = new Set<Socket>()

beforeEach(async () => {
  const authority = await createAuthority("node")
  const { certificate: cert, key } = await issueServingCertificate(authority, ["127.0.0.1"])
  node = createServer({ cert, key }, ({ url }: IncomingMessage, response: ServerResponse) => {
    if (url !== "/healthz") response.write("hello")
    else probed()
  })
  node.on("secureConnection", (socket: Socket) => {
    sockets.add(socket)
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket))
  })
  node.on("upgrade", ({ headers }: IncomingMessage, socket: Socket) => {
    const protocol = String(headers.upgrade)
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\nhello`)
    socket.resume()
  })
  await once(node.listen(0, "127.0.0.1"), "listening")
  const { port } = node.address() as AddressInfo
  const target = { host: "127.0.0.1", port, ca: authority.certificate, agent: false as const }
  gateway = await startTestGateway({
    superCluster: false,
    nodeDialer: () => ({ dial: () => Promise.resolve(target) }),
    limits: { shutdownMs: 600_000 },
  })
  tenant = await gateway.createTenant("a", { controllers: false })
  const client = gateway.gateway.tenants.client("a")
  await client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name: "n" } })
  const spec = { nodeName: "n", serviceAccountName: "default", containers: [{ name: "c", image: "i" }] }
  const metadata = { namespace: "default", name: "web" }
  await client.create(pods, { apiVersion: "v1", kind: "Pod", metadata, spec } as KubeObject)
})

afterEach(async () => {
  await gateway?.[Symbol.asyncDispose]()
  node.closeAllConnections()
  for (const socket of sockets) socket.destroy()
  node.close()
})

const upgrade = "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"
const tunnelled =
  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n" +
  "Sec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io\r\n"
const pod = "/api/v1/namespaces/default/pods/web"
const streams = [
  ["an exec", `${pod}/exec?stdout=true&command=sh`, upgrade],
  ["an attach", `${pod}/attach?stdout=true`, upgrade],
  ["a port-forward", `${pod}/portforward`, upgrade],
  ["a port-forward in a WebSocket", `${pod}/portforward`, tunnelled],
  ["a log that is followed", `${pod}/log?follow=true`, ""],
  ["a log that is followed through its node", "/api/v1/nodes/n/proxy/containerLogs/default/web/c?follow=true", ""],
] as const

/** Open, with something of the node's received. `closed` resolves when the gateway has closed it. */
async function open(path: string, headers: string): Promise<{ socket: TLSSocket; closed: Promise<unknown> }> {
  const socket = await askRaw(gateway, tenant, path, headers)
  const closed = new Promise((resolve) => socket.once("close", resolve))
  let text = ""
  socket.on("data", (piece: Buffer) => {
    text += piece.toString("latin1")
    // What a client of a WebSocket answers to the frame that ends it.
    if (headers === tunnelled && text.includes("\x88")) socket.end()
  })
  await expect.poll(() => text).toContain("hello")
  return { socket, closed }
}

const nothingIsOpen = (): Promise<void> => expect.poll(() => sockets.size).toBe(0)

test.each(streams)("%s ends when its tenant is deleted", async (_what, path, headers) => {
  const { closed } = await open(path, headers)
  await gateway.gateway.tenants.delete("a")
  await closed
  await nothingIsOpen()
})

test.each(streams)("%s ends at once when the gateway stops", async (_what, path, headers) => {
  const { closed } = await open(path, headers)
  await gateway[Symbol.asyncDispose]()
  await closed
  await nothingIsOpen()
})

test.each(streams)("%s ends when the node dies, and the next one works", async (_what, path, headers) => {
  const { closed } = await open(path, headers)
  for (const socket of sockets) socket.destroy()
  await closed
  const { socket } = await open(path, headers)
  socket.destroy()
  await nothingIsOpen()
})

test.each(streams)("%s ends at the node when the client dies", async (_what, path, headers) => {
  const { socket } = await open(path, headers)
  socket.destroy()
  await nothingIsOpen()
})

// As upstream, only logs: the processes of others may go on when the node does.
test.each(streams)("%s, if it is a log, ends when the node falls silent", async (what, path, headers) => {
  const asked = new Promise<void>((resolve) => (probed = resolve))
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
  onTestFinished(() => void vi.useRealTimers())
  const { socket, closed } = await open(path, headers)
  vi.advanceTimersByTime(45_000)
  if (what.startsWith("a log")) {
    await asked
    vi.advanceTimersByTime(15_000)
    await closed
  } else {
    vi.advanceTimersByTime(600_000)
    expect(socket.destroyed).toBe(false)
    socket.destroy()
  }
  await nothingIsOpen()
})
