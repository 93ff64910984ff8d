import { once } from "node:events"
import { connect } from "node:net"
import { expect, test } from "vitest"
import { createAuthority, issueServingCertificate } from "../../gateway/pki/pki.ts"
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
