// What a client sends through a proxy may take longer than a body of any other request, and may be more than the program takes.

import { once } from "node:events"
import { createServer } from "node:http"
import type { TLSSocket } from "node:tls"
import { afterAll, beforeAll, expect, test } from "vitest"
import { proxyPath as proxy, type ProxiedProgram, startProxiedProgram } from "../testing/proxied-program.ts"
import { askRaw } from "../testing/raw-request.ts"

/** More than the buffers of the kernel take of it. */
const much = Buffer.alloc(16 * 1024 * 1024, "x")

let proxied: ProxiedProgram

beforeAll(async () => {
  const program = createServer((request, response) => {
    if (request.url === "/silent") response.flushHeaders()
    else if (request.url === "/waits") request.once("data", () => response.end("begun"))
    else if (request.url === "/much") request.resume().once("data", () => response.end(much))
    else if (request.url === "/closes") request.once("data", () => request.socket.destroy())
    else if (request.url === "/answers") request.once("data", () => response.end("enough") && request.pause())
    else request.pipe(response)
  })
  proxied = await startProxiedProgram(program, { limits: { bodyTimeoutMs: 1000 } })
})

afterAll(() => proxied?.[Symbol.asyncDispose]())

const ask = (path: string, headers = ""): Promise<TLSSocket> => askRaw(proxied.gateway, proxied.tenant, path, headers)

/** A request whose body has not come, and what is answered so far. */
async function begin(path: string): Promise<{ socket: TLSSocket; answer: () => string }> {
  const socket = await ask(path, "transfer-encoding: chunked\r\n")
  let answer = ""
  socket.setEncoding("latin1").on("data", (piece: string) => (answer += piece))
  return { socket, answer: () => answer }
}

/** Until the gateway has looked at all bodies that had begun before. */
async function untilBodiesAreLate(): Promise<void> {
  const other = await begin("/version")
  await once(other.socket, "close")
  expect(other.answer()).toMatch(/^HTTP\/1\.1 (?:200|408) /)
}

test("a body that takes long reaches the program, and its answer the client", async () => {
  const { socket, answer } = await begin(`${proxy}/echo`)
  socket.write("4\r\nlong\r\n")
  await expect.poll(answer).toMatch(/long/)
  await untilBodiesAreLate()
  socket.write("4\r\nbody\r\n0\r\n\r\n")
  await expect.poll(answer).toMatch(/\r\nlong\r\n4\r\nbody\r\n0\r\n\r\n$/)
  // The connection is as before.
  socket.write(`GET /tenants/a/version HTTP/1.1\r\nhost: a\r\n\r\n`)
  await expect.poll(answer).toMatch(/gitVersion/)
})

test("a program may answer a head whose body has not come", async () => {
  const { socket, answer } = await begin(`${proxy}/silent`)
  await expect.poll(answer).toMatch(/^HTTP\/1\.1 200 /)
  socket.destroy()
})

test("a connection ends with the answer to a body that has taken long and has not ended", async () => {
  const { socket, answer } = await begin(`${proxy}/waits`)
  await untilBodiesAreLate()
  socket.write("4\r\nlong\r\n")
  await once(socket, "close")
  expect(answer()).toMatch(/^HTTP\/1\.1 200 [^]*begun/)
})

test("an answer to a body that has taken long, and goes on, reaches a client that reads it slowly", async () => {
  const { socket, answer } = await begin(`${proxy}/much`)
  await untilBodiesAreLate()
  const send = (): void => void (socket.writable && socket.write("4\r\nlong\r\n"))
  send()
  socket.on("data", () => {
    send()
    socket.pause()
    setImmediate(() => socket.resume())
  })
  await once(socket, "close")
  expect(answer().length).toBeGreaterThan(much.length)
})

test("a head that takes long ends the connection, whatever is being answered on it", async () => {
  const socket = await ask(`${proxy}/silent`)
  socket.resume().write("GET /")
  await once(socket, "close")
})

test.each([
  ["that closes the connection", "/closes", 503],
  ["that answers, and reads no more", "/answers", 200],
])("a body for a program %s is received, and the next request is answered", async (_what, path, code) => {
  const socket = await ask(`${proxy}${path}`, "transfer-encoding: chunked\r\n")
  let answers = ""
  socket.setEncoding("latin1").on("data", (piece: string) => (answers += piece))
  const piece = Buffer.alloc(1024 * 1024, "x")
  for (let pieces = 0; pieces < 20; pieces++) {
    socket.write(`${piece.length.toString(16)}\r\n`)
    socket.write(piece)
    socket.write("\r\n")
  }
  socket.write("0\r\n\r\nGET /tenants/a/version HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
  await once(socket, "close")
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual([`HTTP/1.1 ${code}`, "HTTP/1.1 200"])
  expect(answers).toMatch(/gitVersion/)
})
