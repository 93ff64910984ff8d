// Forwarded streams whose clients read nothing: what all of them hold together is limited, and those that read go on.

import { once } from "node:events"
import { createServer } from "node:http"
import { connect, type IncomingHttpHeaders } from "node:http2"
import { Readable, type Duplex } from "node:stream"
import { text } from "node:stream/consumers"
import type { TLSSocket } from "node:tls"
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest"
import { readChunks, tinyChunks } from "../../client/testing/small-pieces.ts"
import { type ProxiedProgram, proxyPath, startProxiedProgram } from "../testing/proxied-program.ts"
import { askRaw } from "../testing/raw-request.ts"

const MiB = 1024 * 1024

let proxied: ProxiedProgram
/** Streams that the program writes. */
let open = 0
let begun = 0
let written = 0

function endless(to: Duplex | NodeJS.WritableStream): void {
  open++
  begun++
  const piece = Buffer.alloc(32 * 1024, "x")
  const source = new Readable({
    read: () => {
      written += piece.length
      source.push(piece)
    },
  })
  to.once("close", () => {
    open--
    source.destroy()
  })
  to.on("error", () => undefined)
  source.pipe(to)
}

beforeAll(async () => {
  const program = createServer((request, response) => {
    const { url } = request
    if (url === "/endless") return endless(response)
    if (url === "/tiny") return void response.socket?.end(tinyChunks(20_000))
    if (url === "/pieces") {
      let [pieces, bytes] = [0, 0]
      request.on("data", ({ length }: Buffer) => [pieces++, (bytes += length)])
      return void request.once("end", () => response.end(JSON.stringify({ pieces, bytes })))
    }
    if (url === "/upload") return void request.once("data", () => request.pause())
    const bytes = Number(url?.slice(1)) * MiB
    response.writeHead(200, { "content-type": "text/html" }).end(Buffer.alloc(bytes, "x"))
  })
  program.on("upgrade", (_request, socket: Duplex) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n")
    endless(socket)
  })
  proxied = await startProxiedProgram(program, { limits: { maxUnsentBytes: 2 * MiB } })
})

afterAll(() => proxied?.[Symbol.asyncDispose]())

function ask(headers = ""): Promise<TLSSocket> {
  return askRaw(proxied.gateway, proxied.tenant, `${proxyPath}/endless`, headers)
}

/** Buffers of the kernel grow while they are filled, so a stream that nobody reads goes on a while, and its wait begins again. */
async function untilNothingIsWritten(): Promise<void> {
  let last = -1
  let same = 0
  await expect
    .poll(() => {
      same = written === last ? same + 1 : 0
      last = written
      return same
    })
    .toBeGreaterThan(20)
}

test.each([
  ["answers of a proxy", ""],
  ["switched protocols", "connection: upgrade\r\nupgrade: test\r\n"],
])("%s that nobody reads are disconnected beyond the limit of all together", async (_what, headers) => {
  const before = begun
  const began = before + 20
  const unread = await Promise.all(Array.from({ length: 20 }, () => ask(headers)))
  // 128 KiB each at least: the buffers of both sides.
  await expect.poll(() => begun === began && open <= 16).toBe(true)
  await untilNothingIsWritten()
  expect(open).toBeGreaterThan(4)
  const read = await ask(headers)
  let taken = 0
  read.on("data", (piece: Buffer) => (taken += piece.length))
  await expect.poll(() => taken).toBeGreaterThan(8 * MiB)
  expect(open).toBeGreaterThan(4)
  for (const socket of [read, ...unread]) socket.destroy()
  await expect.poll(() => open).toBe(0)
})

test("uploads that the program does not take are disconnected beyond the limit of all together", async () => {
  const upload = Buffer.alloc(8 * MiB)
  const head = `content-length: ${upload.length}\r\n`
  const sockets = await Promise.all(
    Array.from({ length: 40 }, () => askRaw(proxied.gateway, proxied.tenant, `${proxyPath}/upload`, head)),
  )
  for (const socket of sockets) socket.write(upload)
  const left = (): number => sockets.filter(({ destroyed }) => !destroyed).length
  // 64 KiB each at least: the buffer of the client's side.
  await expect.poll(left).toBeLessThanOrEqual(32)
  expect(left()).toBeGreaterThan(2)
})

test.each([
  ["rewritten", 3],
  ["too long to be rewritten", 7],
])("a page that is %s counts while it is not taken", async (_what, size) => {
  const { gateway, tenant } = proxied
  const session = connect(gateway.url, {
    ca: gateway.gateway.certificateAuthority,
    cert: tenant.certificate,
    key: tenant.key,
  })
  onTestFinished(() => session.destroy())
  const path = `/tenants/a${proxyPath}/${size}`
  const stream = session.request({ ":path": path }).on("error", () => undefined)
  const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders]
  expect(headers[":status"]).toBe(200)
  // It is more than all streams may hold.
  await expect.poll(() => stream.closed).toBe(true)
})

test("an answer in chunks of a byte is passed on in larger ones", async () => {
  const socket = await askRaw(proxied.gateway, proxied.tenant, `${proxyPath}/tiny`, "connection: close\r\n")
  const { chunks, body } = readChunks(await text(socket))
  expect(body.length).toBe(20_000)
  expect(chunks).toBeLessThan(1000)
})

test("a body in chunks of a byte is passed on in larger ones", async () => {
  const head = "connection: close\r\ntransfer-encoding: chunked\r\n"
  const socket = await askRaw(proxied.gateway, proxied.tenant, `${proxyPath}/pieces`, head)
  socket.write(`${"1\r\nx\r\n".repeat(20_000)}0\r\n\r\n`)
  const [, told = ""] = (await text(socket)).split("\r\n\r\n")
  const { pieces, bytes } = JSON.parse(told) as { pieces: number; bytes: number }
  expect(bytes).toBe(20_000)
  expect(pieces).toBeLessThan(1000)
})
