import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { expect, onTestFinished, test } from "vitest"
import { EventStream, roomInChunk } from "./event-stream.ts"

/** The responses to `requests` on one connection; `answer` is called for each request. */
async function answersTo(requests: string, answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_, response) => {
    response.sendDate = false
    response.writeHead(200, { "content-type": "text/plain" })
    answer(response)
  })
  onTestFinished(() => void server.close())
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1")
  socket.write(requests)
  let text = ""
  for await (const piece of socket.setEncoding("latin1")) text += String(piece)
  return text
}

const shared = roomInChunk(20)
shared.fill("s")

test("each event is a chunk, and the connection is reused", async () => {
  const get = "GET / HTTP/1.1\r\nhost: a\r\n"
  const text = await answersTo(`${get}\r\n${get}connection: close\r\n\r\n`, (response) => {
    const stream = new EventStream(response)
    stream.write([shared])
    stream.write([Buffer.from("own"), shared])
    stream.end()
  })
  const chunk = `14\r\n${"s".repeat(20)}\r\n`
  const bodies = text.split(/^HTTP\/1\.1 200 OK$/m).slice(1)
  expect(bodies.map((answer) => answer.slice(answer.indexOf("\r\n\r\n") + 4))).toEqual(
    Array.from({ length: 2 }, () => `${chunk}3\r\nown\r\n${chunk}0\r\n\r\n`),
  )
  expect(text.match(/transfer-encoding: chunked/gi)).toHaveLength(2)
})

test("a client of HTTP/1.0 gets the events without chunks", async () => {
  const text = await answersTo("GET / HTTP/1.0\r\n\r\n", (response) => {
    const stream = new EventStream(response)
    stream.write([shared, Buffer.from("own")])
    stream.end()
  })
  expect(text.slice(text.indexOf("\r\n\r\n") + 4)).toBe(`${"s".repeat(20)}own`)
})
