// Streams between a tenant's client and a node that is under the test's control: how they end, and what waits when one side takes
// nothing.

import { once } from "node:events"
import { createServer, type Server } from "node:https"
import type { AddressInfo } from "node:net"
import type { Duplex } from "node:stream"
import { text } from "node:stream/consumers"
import type { TLSSocket } from "node:tls"
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest"
import { readChunks, tinyChunks } from "../../../../../client/testing/small-pieces.ts"
import { clusterRoleBindings, clusterRoles, nodes, pods } from "../../../../../client/resources.ts"
import type { KubeObject } from "../../../../../apimachinery/object.ts"
import { createAuthority, issueServingCertificate } from "../../../../pki/pki.ts"
import { askRaw } from "../../../../testing/raw-request.ts"
import { startTestGateway, type TestGateway, type TestTenant } from "../../../../testing/start-gateway.ts"

const MiB = 1024 * 1024
const host = "127.0.0.1"
const spdy = "connection: upgrade\r\nupgrade: SPDY/3.1\r\nx-stream-protocol-version: v4.channel.k8s.io\r\n"

let gateway: TestGateway
let kubelet: Server
/** Connections that the node has accepted, and not ended. */
const accepted = new Set<Duplex>()
/** What it does with one. */
let serve: (socket: Duplex) => void
/** What it answers to every call instead. */
let refusal: { code: number; text: string } | undefined

beforeAll(async () => {
  const authority = await createAuthority("nodes")
  const { certificate: cert, key } = await issueServingCertificate(authority, [host])
  kubelet = createServer({ cert, key }, (_request, response) => {
    if (refusal === undefined) response.socket?.end(tinyChunks(20_000))
    else response.writeHead(refusal.code).end(refusal.text)
  }).on("upgrade", (_request, socket: Duplex) => {
    if (refusal !== undefined) {
      const { code, text } = refusal
      return void socket.end(
        `HTTP/1.1 ${code} No\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`,
      )
    }
    accepted.add(socket)
    socket.on("error", () => undefined).once("close", () => accepted.delete(socket))
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n")
    serve(socket)
  })
  await once(kubelet.listen(0, host), "listening")
  const { port } = kubelet.address() as AddressInfo
  const dialer = { dial: () => Promise.resolve({ host, port, ca: authority.certificate, agent: false as const }) }
  gateway = await startTestGateway({ nodeDialer: () => dialer, limits: { tenantIdleMs: 40 } })
})

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]()
  kubelet?.closeAllConnections()
  kubelet?.close()
})

beforeEach(() => {
  refusal = undefined
  serve = (socket) => void socket.pipe(socket)
})

let serial = 0
/** With a pod on the node. */
async function createTenant(): Promise<TestTenant> {
  const tenant = await gateway.createTenant(`t${serial++}`)
  const client = gateway.gateway.tenants.client(tenant.tenant.name)
  await client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name: "node-1" } })
  const spec = { nodeName: "node-1", containers: [{ name: "main", image: "i" }] }
  const metadata = { name: "web", namespace: "default" }
  await client.create(pods, { apiVersion: "v1", kind: "Pod", metadata, spec } as KubeObject)
  return tenant
}

const path = "/api/v1/namespaces/default/pods/web"

async function exec(tenant: TestTenant, headers = ""): Promise<TLSSocket> {
  const before = accepted.size
  const socket = await askRaw(gateway, tenant, `${path}/exec?command=sh&stdin=1&stdout=1`, spdy + headers)
  const [head] = (await once(socket, "data")) as [Buffer]
  expect(head.toString()).toMatch(/^HTTP\/1\.1 101 /)
  await expect.poll(() => accepted.size).toBe(before + 1)
  return socket
}

const echoes = async (socket: TLSSocket, text: string): Promise<void> => {
  socket.write(text)
  expect(String(((await once(socket, "data")) as [Buffer])[0])).toBe(text)
}

/** Writes without end to `to`, as fast as it takes it. Returns how many bytes it has been given. */
function flood(to: Duplex): () => number {
  const piece = Buffer.alloc(64 * 1024)
  let written = 0
  const more = (): void => {
    written += piece.length
    to.write(piece, (error) => (error ? undefined : more()))
  }
  more()
  return () => written
}

/** Resolves when no more of it is taken, with the number of bytes. */
async function stalled(written: () => number): Promise<number> {
  let last = -1
  let same = 0
  await expect
    .poll(() => {
      same = written() === last ? same + 1 : 0
      last = written()
      return same
    })
    .toBeGreaterThan(20)
  return last
}

describe("a stream", () => {
  test("ends when its tenant is deleted, on both sides", async () => {
    const tenant = await createTenant()
    const socket = await exec(tenant)
    await echoes(socket, "hello")
    const closed = once(socket.resume(), "close")
    await gateway.gateway.tenants.delete(tenant.tenant.name)
    await closed
    await expect.poll(() => accepted.size).toBe(0)
  })

  test("ends half a minute after its tenant is deleted if its client reads nothing", async () => {
    const tenant = await createTenant()
    const started = Promise.withResolvers<() => number>()
    serve = (socket) => started.resolve(flood(socket))
    const socket = await exec(tenant)
    socket.pause()
    await stalled(await started.promise)
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true })
    onTestFinished(() => void vi.useRealTimers())
    await gateway.gateway.tenants.delete(tenant.tenant.name)
    await expect.poll(() => accepted.size).toBe(0)
    expect(socket.destroyed).toBe(false)
    vi.advanceTimersByTime(30_000)
    // A client that does not read learns it from what it writes.
    await expect.poll(() => socket.destroyed || (socket.write("x"), false)).toBe(true)
  })

  test("goes on while its tenant is not used otherwise, and ends with its client", async () => {
    const [tenant] = [await createTenant(), await createTenant()]
    const socket = await exec(tenant)
    await expect.poll(() => gateway.gateway.tenants.awake).toBe(1)
    await echoes(socket, "hello")
    socket.destroy()
    await expect.poll(() => [accepted.size, gateway.gateway.tenants.awake]).toEqual([0, 0])
  })

  test("goes on when its user may no longer open one, as upstream", async () => {
    const tenant = await createTenant()
    const client = gateway.gateway.tenants.client(tenant.tenant.name)
    const rbac = { apiVersion: "rbac.authorization.k8s.io/v1", metadata: { name: "exec" } }
    const rules = [{ apiGroups: [""], resources: ["pods/exec"], verbs: ["get", "create"] }]
    const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "ann" }]
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "exec" }
    await client.create(clusterRoles, { ...rbac, kind: "ClusterRole", rules } as KubeObject)
    await client.create(clusterRoleBindings, { ...rbac, kind: "ClusterRoleBinding", subjects, roleRef } as KubeObject)
    const socket = await exec(tenant, "impersonate-user: ann\r\n")
    await client.delete(clusterRoleBindings, undefined, "exec")
    await expect(exec(tenant, "impersonate-user: ann\r\n")).rejects.toThrow("HTTP/1.1 403 ")
    await echoes(socket, "hello")
    socket.destroy()
    await expect.poll(() => accepted.size).toBe(0)
  })

  test.each(["client", "node"])("makes its sender wait while the %s takes nothing", async (side) => {
    const tenant = await createTenant()
    const started = Promise.withResolvers<() => number>()
    let atNode: Duplex | undefined
    serve = (socket) => {
      atNode = socket
      if (side === "client") started.resolve(flood(socket))
    }
    const socket = await exec(tenant)
    socket.pause()
    if (side === "node") started.resolve(flood(socket))
    const written = await stalled(await started.promise)
    // The buffers of two connections in the kernel, which grow.
    expect(written).toBeLessThan(32 * MiB)
    socket.destroy()
    // As upstream, a client's end is noticed when what it has sent before is taken.
    if (side === "node") atNode?.resume()
    await expect.poll(() => accepted.size).toBe(0)
  })
})

test.each<[code: number, path: string, answer: object]>([
  [400, "log", { code: 400, reason: "BadRequest", message: "no" }],
  [400, "exec?command=sh&stdout=1", { code: 400, reason: "BadRequest", message: "no" }],
  [
    404,
    "log",
    {
      code: 404,
      reason: "NotFound",
      message: "the server could not find the requested resource ( pods/log web)",
      details: { name: "web", kind: "pods/log" },
    },
  ],
  [404, "exec?command=sh&stdout=1", { code: 404, reason: "NotFound", message: "no" }],
  [429, "log", { code: 429, reason: "TooManyRequests", message: "no", details: { retryAfterSeconds: 1 } }],
  [429, "portforward", { code: 429, reason: "TooManyRequests", message: "no" }],
  [401, "log", { code: 500, reason: "InternalError", message: "Internal error occurred: no" }],
  [403, "attach?stdout=1", { code: 500, reason: "InternalError", message: "Internal error occurred: no" }],
  [500, "exec?command=sh&stdout=1", { code: 500, reason: "InternalError", message: "Internal error occurred: no" }],
])("a refusal of the node with %i of %s", async (code, what, answer) => {
  const tenant = await createTenant()
  refusal = { code, text: "no" }
  const socket = await askRaw(gateway, tenant, `${path}/${what}`, what === "log" ? "connection: close\r\n" : spdy)
  const said = await text(socket)
  expect(JSON.parse(said.split("\r\n\r\n")[1] ?? "")).toMatchObject({ kind: "Status", status: "Failure", ...answer })
  expect(/^retry-after: (.*)$/im.exec(said)?.[1]).toBe(code === 429 ? "1" : undefined)
})

test.each([
  ["another version", "sec-websocket-version: 8\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"],
  ["a short key", "sec-websocket-version: 13\r\nsec-websocket-key: AAAA\r\n"],
  ["no key", "sec-websocket-version: 13\r\n"],
])("a port-forward in a WebSocket with %s is refused before its node is asked", async (_what, headers) => {
  const tenant = await createTenant()
  const offered = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-protocol: SPDY/3.1+portforward.k8s.io\r\n"
  serve = () => expect.unreachable()
  const socket = await askRaw(gateway, tenant, `${path}/portforward`, offered + headers)
  const said = await text(socket)
  expect(JSON.parse(said.split("\r\n\r\n")[1] ?? "")).toMatchObject({ code: 400, message: "websocket: bad handshake" })
  expect(/^sec-websocket-version: (.*)$/im.exec(said)?.[1]).toBe("13")
})

test("a log in chunks of a byte is passed on in larger ones", async () => {
  const socket = await askRaw(gateway, await createTenant(), `${path}/log`, "connection: close\r\n")
  const { chunks, body } = readChunks(await text(socket))
  expect(body.length).toBe(20_000)
  expect(chunks).toBeLessThan(1000)
})
