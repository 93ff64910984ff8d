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
    for (const portion of stream.portions([shared])) stream.write(portion)
    for (const portion of stream.portions([Buffer.from("own"), shared])) stream.write(portion)
    stream.end()
  })
  const chunk = `14\r\n${"s".repeat(20)}\r\n`
  const bodies = text.split(/^HTTP\/1\.1 200 OK$/m).slice(1)
  expect(bodies.map((answer) => answer.slice(answer.indexOf("\r\n\r\n") + 4))).toEqual(
    Array.from({ length: 2 }, () => `${chunk}3\r\nown\r\n${chunk}0\r\n\r\n`),
  )
  expect(text.match(/transfer-encoding: chunked/gi)).toHaveLength(2)
})

test("a long event is divided, and cut off if it ends within", async () => {
  const long = Buffer.from("l".repeat(300_000))
  const get = "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"
  const sizes: number[] = []
  const whole = await answersTo(get, (response) => {
    const stream = new EventStream(response)
    for (const portion of stream.portions([shared, long, shared, shared])) {
      sizes.push(portion.length)
      stream.write(portion)
    }
    stream.end()
  })
  expect(Math.max(...sizes)).toBeLessThanOrEqual(128 * 1024)
  const chunk = `14\r\n${"s".repeat(20)}\r\n`
  expect(whole.slice(whole.indexOf("\r\n\r\n") + 4)).toBe(
    `${chunk}493e0\r\n${long.toString()}\r\n${chunk}${chunk}0\r\n\r\n`,
  )
  const part = await answersTo(get, (response) => {
    const stream = new EventStream(response)
    for (const portion of stream.portions([long])) {
      stream.write(portion)
      break
    }
    stream.end()
  }).catch((error: Error) => error.message)
  expect(part).not.toContain("0\r\n\r\n")
})

test("a client of HTTP/1.0 gets the events without chunks", async () => {
  const text = await answersTo("GET / HTTP/1.0\r\n\r\n", (response) => {
    const stream = new EventStream(response)
    for (const portion of stream.portions([shared, Buffer.from("own")])) stream.write(portion)
    stream.end()
  })
  expect(text.slice(text.indexOf("\r\n\r\n") + 4)).toBe(`${"s".repeat(20)}own`)
})
