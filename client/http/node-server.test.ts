import { once } from "node:events"
import { connect } from "node:net"
import { connect as connectTLS, type ConnectionOptions } from "node:tls"
import { expect, test } from "vitest"
import { createAuthority, issueServingCertificate } from "../../gateway/pki/pki.ts"
import { areProbed } from "../testing/probed-connections.ts"
import { CallRefused, NodeServer, type NodeServerOptions } from "./node-server.ts"

const authority = await createAuthority("nodes")
const { certificate: cert, key } = await issueServingCertificate(authority, ["127.0.0.1"])

function startServer(over: Partial<NodeServerOptions> = {}): Promise<NodeServer> {
  return NodeServer.start({
    host: "127.0.0.1",
    port: 0,
    tls: { cert, key },
    maxConnections: 10,
    serve: () => Promise.resolve(),
    upgrade: () => Promise.resolve(),
    explain: () => new CallRefused(500, "a fault"),
    ...over,
  })
}

test("stops immediately, also during a TLS handshake", async () => {
  const server = await startServer()
  // Connects but does not start TLS.
  const silent = connect(server.port, "127.0.0.1")
  silent.on("error", () => undefined) // the server resets the connection
  await once(silent, "connect")
  const began = performance.now()
  await server[Symbol.asyncDispose]()
  expect(performance.now() - began).toBeLessThan(5_000)
  silent.destroy()
})

test("a refused upgrade ends the connection, also if the client leaves its side open", async () => {
  await using server = await startServer({ upgrade: () => Promise.reject(new CallRefused(401, "Unauthorized")) })
  const options = { host: "127.0.0.1", port: server.port, rejectUnauthorized: false, allowHalfOpen: true }
  const socket = connectTLS(options as ConnectionOptions)
  socket.on("error", () => undefined) // the connection is reset
  const closed = new Promise((resolve) => socket.once("close", resolve))
  socket.resume()
  socket.write("GET /exec/a/b/c HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n")
  await once(socket, "end")
  // What is sent to a closed connection is refused.
  const talking = setInterval(() => socket.write("more"), 20)
  await closed
  clearInterval(talking)
})

// Its exec would count for ever.
test.runIf(process.platform === "linux")("a client that vanishes is noticed", async () => {
  await using server = await startServer()
  const socket = connectTLS({ host: "127.0.0.1", port: server.port, ca: authority.certificate })
  await once(socket, "secureConnect")
  await expect.poll(() => areProbed(server.port)).toEqual([true])
  socket.destroy()
})

test("connections without a request make room for others, those with one do not", async () => {
  await using server = await startServer({
    maxConnections: 3,
    serve: async (_request, response) => Promise.resolve(void response.write("first line\n")),
    upgrade: async (_request, { socket }) => Promise.resolve(void socket.write("switched")),
  })
  const open = (request: string) => {
    const socket = connectTLS({ host: "127.0.0.1", port: server.port, ca: authority.certificate })
    socket.on("error", () => undefined) // the server resets the connection
    const closed = new Promise((resolve) => socket.once("close", resolve))
    const seen = { text: "" }
    socket.on("data", (data: Buffer) => (seen.text += data.toString()))
    if (request !== "") socket.write(`GET ${request} HTTP/1.1\r\nHost: a\r\n\r\n`)
    return { socket, closed, seen }
  }
  const until = (one: { seen: { text: string } }, text: string) => expect.poll(() => one.seen.text).toContain(text)
  const [silent, done] = [open(""), open("/healthz")]
  await until(done, "ok")
  const following = open("/log")
  await until(following, "first line")
  const switched = open("/exec HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: x\r\nX: ")
  await silent.closed
  await until(switched, "switched")
  const last = open("/log")
  await done.closed
  await until(last, "first line")
  // Now all have a request.
  await open("/log").closed
  expect([following, switched, last].map(({ socket }) => socket.destroyed)).toEqual([false, false, false])
  // As soon as one of them ends, there is room again.
  following.socket.destroy()
  await expect
    .poll(async () => {
      const probe = open("/healthz")
      // One poll, and not a race with it: left to itself, it would put the clocks of later tests forward.
      await expect.poll(() => probe.socket.destroyed || probe.seen.text !== "").toBe(true)
      probe.socket.destroy()
      return probe.seen.text
    })
    .toContain("ok")
  for (const { socket } of [switched, last]) socket.destroy()
})

test("an upgrade whose client has left is no fault", async () => {
  const authority = await createAuthority("nodes")
  const { certificate: cert, key } = await issueServingCertificate(authority, ["127.0.0.1"])
  const faults: unknown[] = []
  await using server = await NodeServer.start({
    host: "127.0.0.1",
    port: 0,
    tls: { cert, key },
    maxConnections: 3,
    serve: (_request, response) => Promise.resolve(void response.end()),
    upgrade(_request, { socket }) {
      socket.destroy()
      return Promise.reject(new Error("aborted"))
    },
    explain(error) {
      faults.push(error)
      return new CallRefused(500, "a fault")
    },
  })
  const socket = connectTLS({ host: "127.0.0.1", port: server.port, ca: authority.certificate })
  const closed = new Promise((resolve) => socket.once("close", resolve))
  socket.on("error", () => undefined)
  socket.resume()
  socket.write("GET /exec HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
  await closed
  expect(faults).toEqual([])
})
