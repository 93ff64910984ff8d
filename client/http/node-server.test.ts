import { once } from "node:events"
import { connect } from "node:net"
import { connect as connectTLS, type ConnectionOptions } from "node:tls"
import { expect, test } from "vitest"
import { createAuthority, issueServingCertificate } from "../../gateway/pki/pki.ts"
import { areProbed } from "../testing/probed-connections.ts"
import { CallRefused, NodeServer } from "./node-server.ts"

test("stops immediately, also during a TLS handshake", async () => {
  const authority = await createAuthority("nodes")
  const { certificate: cert, key } = await issueServingCertificate(authority, ["127.0.0.1"])
  const server = await NodeServer.start({
    host: "127.0.0.1",
    port: 0,
    tls: { cert, key },
    maxConnections: 10,
    serve: () => Promise.resolve(),
    upgrade: () => Promise.resolve(),
    explain: () => new CallRefused(500, "a fault"),
  })
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
  const authority = await createAuthority("nodes")
  const { certificate: cert, key } = await issueServingCertificate(authority, ["127.0.0.1"])
  await using server = await NodeServer.start({
    host: "127.0.0.1",
    port: 0,
    tls: { cert, key },
    maxConnections: 10,
    serve: () => Promise.resolve(),
    upgrade: () => Promise.reject(new CallRefused(401, "Unauthorized")),
    explain: () => new CallRefused(500, "a fault"),
  })
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
  const authority = await createAuthority("nodes")
  const { certificate: cert, key } = await issueServingCertificate(authority, ["127.0.0.1"])
  await using server = await NodeServer.start({
    host: "127.0.0.1",
    port: 0,
    tls: { cert, key },
    maxConnections: 10,
    serve: () => Promise.resolve(),
    upgrade: () => Promise.resolve(),
    explain: () => new CallRefused(500, "a fault"),
  })
  const socket = connectTLS({ host: "127.0.0.1", port: server.port, ca: authority.certificate })
  await once(socket, "secureConnect")
  await expect.poll(() => areProbed(server.port)).toEqual([true])
  socket.destroy()
})
