// Clients that misuse HTTP/2, frame by frame: the gateway ends their connection and keeps serving others.

import { once } from "node:events"
import { connect, type TLSSocket } from "node:tls"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { type Credential, startTestGateway, type TestGateway, type TestTenant } from "../testing/start-gateway.ts"

let fixture: TestGateway
let tenant: TestTenant

beforeAll(async () => {
  fixture = await startTestGateway({ http2: true, limits: { maxInFlight: 50 } })
  tenant = await fixture.createTenant("a")
})

afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
})

const types = {
  data: 0x0,
  headers: 0x1,
  priority: 0x2,
  reset: 0x3,
  settings: 0x4,
  ping: 0x6,
  windowUpdate: 0x8,
  continuation: 0x9,
  unknown: 0xee,
} as const
const initialWindowSize = 0x4
const endStream = 0x1
const endHeaders = 0x4
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

/** RFC 9113, section 4.1. */
function frame(type: keyof typeof types, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.byteLength, 0, 3)
  head.writeUInt8(types[type], 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** A literal header without indexing or compression. RFC 7541, section 6.2.2. */
function literal(name: string, value: string): Buffer {
  return Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ])
}

const request = Buffer.concat([
  literal(":method", "GET"),
  literal(":scheme", "https"),
  literal(":authority", "a"),
  literal(":path", "/tenants/a/api/v1/namespaces"),
])

async function open(to = fixture, { certificate, key }: Credential = tenant, settings?: Buffer): Promise<TLSSocket> {
  const { hostname, port } = new URL(to.url)
  const socket = connect({
    host: hostname,
    port: Number(port),
    ca: to.gateway.certificateAuthority,
    checkServerIdentity: () => undefined,
    ALPNProtocols: ["h2"],
    ...(certificate === undefined || key === undefined ? {} : { cert: certificate, key }),
  })
  onTestFinished(() => void socket.destroy())
  await once(socket, "secureConnect")
  socket.on("error", () => undefined) // it is closed while it writes
  socket.resume()
  socket.write(Buffer.concat([Buffer.from(preface), frame("settings", 0, 0, settings)]))
  return socket
}

const floods: Record<string, (index: number) => Buffer> = {
  "streams opened and reset at once": (index) =>
    Buffer.concat([
      frame("headers", endStream | endHeaders, 2 * index + 1, request),
      frame("reset", 0, 2 * index + 1, Buffer.from([0, 0, 0, 8])),
    ]),
  "streams that the gateway must reset": (index) =>
    Buffer.concat([
      frame("headers", endStream | endHeaders, 2 * index + 1, request),
      frame("windowUpdate", 0, 2 * index + 1, Buffer.alloc(4)),
    ]),
  "header frames without an end": (index) =>
    index === 0 ? frame("headers", endStream, 1, request) : frame("continuation", 0, 1, literal("a", "b")),
  settings: () => frame("settings", 0, 0),
  pings: () => frame("ping", 0, 0, Buffer.alloc(8)),
}

describe("a connection is closed when its client sends too many", () => {
  test.for(Object.entries(floods))("%s", async ([, flood]) => {
    const socket = await open()
    const ended = once(socket, "close")
    // Node's own limit of resets increases with time, and slow machines take long: far more than either limit.
    for (let index = 0; index < 20_000 && !socket.destroyed && socket.writable; index++) {
      const more = socket.write(flood(index))
      if (!more && !socket.destroyed) await Promise.race([once(socket, "drain"), ended])
    }
    await ended
    const answer = await fixture.request("/tenants/a/api/v1/namespaces", tenant)
    expect(answer.code).toBe(200)
  })
})

const post = Buffer.concat([
  literal(":method", "POST"),
  literal(":scheme", "https"),
  literal(":authority", "a"),
  literal(":path", "/tenants/a/api/v1/namespaces"),
  literal("content-type", "application/json"),
])
const unanswered: Record<string, (index: number) => Buffer> = {
  "body pieces without content": (index) => (index === 0 ? frame("headers", endHeaders, 1, post) : frame("data", 0, 1)),
  priorities: (index) => frame("priority", 0, 2 * index + 1, Buffer.from([0, 0, 0, 0, 1])),
  "window updates": () => frame("windowUpdate", 0, 0, Buffer.from([0, 0, 0, 1])),
  "frames of no known type": () => frame("unknown", 0, 0, Buffer.alloc(16)),
}

describe("others are served while a client sends many", () => {
  test.for(Object.entries(unanswered))("%s", async ([, flood]) => {
    const socket = await open()
    const ended = once(socket, "close")
    let served = 0
    for (let index = 0; index < 20_000 && !socket.destroyed && socket.writable; index++) {
      const more = socket.write(flood(index))
      if (!more && !socket.destroyed) await Promise.race([once(socket, "drain"), ended])
      if (index % 5_000 !== 0) continue
      const answer = await fixture.request("/tenants/a/api/v1/namespaces", tenant)
      expect(answer.code).toBe(200)
      served++
    }
    expect(served).toBeGreaterThan(0)
    socket.destroy()
    await ended
  })
})

test("a connection stays open when its client sends pings occasionally", async () => {
  const socket = await open()
  let pongs = 0
  let text = Buffer.alloc(0)
  socket.on("data", (piece: Buffer) => {
    text = Buffer.concat([text, piece])
    while (text.length >= 9 && text.length >= 9 + text.readUIntBE(0, 3)) {
      if (text[3] === types.ping) pongs++
      text = text.subarray(9 + text.readUIntBE(0, 3))
    }
  })
  for (let index = 0; index < 100; index++) socket.write(frame("ping", 0, 0, Buffer.alloc(8)))
  await expect.poll(() => pongs).toBe(100)
})

test.each([
  ["sends pings", false],
  ["leaves its side of it open", true],
])("a connection without requests is closed, also if its client %s", async (_what, isLeftOpen) => {
  await using gateway = await startTestGateway({ http2: true, limits: { keepAliveMs: 500 } })
  const socket = await open(gateway, {})
  socket.allowHalfOpen = isLeftOpen
  const ended = new Promise((resolve) => socket.once("close", resolve)) // perhaps with an error
  const pings = setInterval(() => socket.write(frame("ping", 0, 0, Buffer.alloc(8))), 50)
  onTestFinished(() => clearInterval(pings))
  await ended
})

test("a stream ends whose answer is not taken, also if nobody knows the client", async () => {
  await using gateway = await startTestGateway({ http2: true, limits: { requestTimeoutMs: 500 } })
  const noWindow = Buffer.from([0, initialWindowSize, 0, 0, 0, 0])
  const socket = await open(gateway, {}, noWindow)
  const seen = new Set<number>()
  let text = Buffer.alloc(0)
  socket.on("data", (piece: Buffer) => {
    text = Buffer.concat([text, piece])
    while (text.length >= 9 && text.length >= 9 + text.readUIntBE(0, 3)) {
      seen.add(text[3] ?? 0)
      text = text.subarray(9 + text.readUIntBE(0, 3))
    }
  })
  const stranger = Buffer.concat([request, literal("authorization", "Bearer nonsense")])
  socket.write(frame("headers", endStream | endHeaders, 1, stranger))
  await expect.poll(() => seen.has(types.headers), { timeout: 30_000 }).toBe(true)
  await expect.poll(() => seen.has(types.reset), { timeout: 30_000 }).toBe(true)
})
