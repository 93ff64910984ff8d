import { channel } from "node:diagnostics_channel"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type AddressInfo, connect, Socket } from "node:net"
import { buffer } from "node:stream/consumers"
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest"
import { smallPieces } from "../../client/testing/small-pieces.ts"
import { oneAtATime, ReadRequest } from "./one-at-a-time.ts"

let begun: { url: string | undefined; response: ServerResponse }[]
const serve = oneAtATime((request, response) => {
  begun.push({ url: request.url, response })
})
const server = createServer({ IncomingMessage: ReadRequest, shouldUpgradeCallback: () => false }, serve)

beforeEach(async () => {
  begun = []
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
})

afterEach(() => {
  server.closeAllConnections()
  server.close()
})

async function send(...urls: string[]): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1")
  onTestFinished(() => void socket.destroy())
  await once(socket, "connect")
  socket.write(heads(urls))
  return socket
}

function heads(urls: readonly string[]): string {
  return urls.map((url) => `GET ${url} HTTP/1.1\r\nhost: a\r\n\r\n`).join("")
}

const numbered = (length: number): string[] => Array.from({ length }, (_, index) => `/${index}`)

test("a pipelined request starts when the previous one has ended", async () => {
  const socket = await send("/1", "/2", "/3")
  let text = ""
  socket.on("data", (piece: Buffer) => (text += piece.toString()))
  for (let count = 1; count <= 3; count++) {
    await expect.poll(() => begun.length).toBe(count)
    begun.at(-1)?.response.end(`answer ${count}`)
  }
  await expect.poll(() => text.match(/answer \d/g)).toEqual(["answer 1", "answer 2", "answer 3"])
  expect(begun.map(({ url }) => url)).toEqual(["/1", "/2", "/3"])
})

test("connections do not wait for each other, nor a request for an earlier one that has ended", async () => {
  const first = await send("/1")
  await send("/2")
  await expect.poll(() => begun.length).toBe(2)
  begun.find(({ url }) => url === "/1")?.response.end()
  await once(first, "data")
  first.write("GET /3 HTTP/1.1\r\nhost: a\r\n\r\n")
  await expect.poll(() => begun.at(-1)?.url).toBe("/3")
})

test("a connection with too many pipelined requests is closed, and none of them starts", async () => {
  const socket = await send(...numbered(100))
  socket.on("error", () => undefined) // reset
  await once(socket, "close")
  expect(begun.map(({ url }) => url)).toEqual(["/0"])
})

test("after closing a connection, Node creates no more requests from data already read", async () => {
  const made: (string | undefined)[] = []
  const note = (message: unknown): void => void made.push((message as { request: IncomingMessage }).request.url)
  channel("http.server.request.start").subscribe(note)
  onTestFinished(() => {
    channel("http.server.request.start").unsubscribe(note)
  })
  const socket = await send(...numbered(1000))
  socket.on("error", () => undefined) // reset
  await once(socket, "close")
  expect(made).toEqual(numbered(18)) // one in progress, 16 queued, and the one beyond the limit
})

test("the response in progress emits close when its connection is closed", async () => {
  const socket = await send("/0")
  await expect.poll(() => begun.length).toBe(1)
  const closed = once(begun[0]!.response, "close")
  socket.on("error", () => undefined) // reset
  socket.write(heads(numbered(1000)))
  await closed
})

test.each(["content-length: 3\r\n\r\nabc", "transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"])(
  "a connection ends with a request that offers an upgrade and does not get it: %j",
  async (body) => {
    const socket = await send()
    const offer = `POST /1 HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: h2c\r\n${body}`
    const inner = heads(["/inner"])
    // Node drops the second head, and would take its body for a request.
    socket.write(`${offer}POST /2 HTTP/1.1\r\nhost: a\r\ncontent-length: ${inner.length}\r\n\r\n`)
    await expect.poll(() => begun.length).toBe(1)
    const requested = once(server, "request")
    socket.write(inner)
    await requested
    let text = ""
    socket.on("data", (piece: Buffer) => (text += piece.toString()))
    begun[0]?.response.end("answer 1")
    await once(socket, "close")
    expect(text).toMatch(/connection: close[^]*answer 1/i)
    expect(begun.map(({ url }) => url)).toEqual(["/1"])
  },
)

test("of a body in small chunks that waits only the bytes are held", async () => {
  const chunks = smallPieces()
  const request = new ReadRequest(new Socket())
  for (let index = 0; index < 1000; index++) request.push(chunks.next())
  await expect.poll(() => chunks.held()).toBeLessThan(10)
  request.push(null)
  expect(await buffer(request)).toEqual(Buffer.from(Array.from({ length: 1000 }, (_, index) => index & 255)))
})
