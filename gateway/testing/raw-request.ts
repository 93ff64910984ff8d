// Requests of a tenant whose answers a test reads itself, or leaves unread.

import { once } from "node:events"
import { connect, type TLSSocket } from "node:tls"
import { onTestFinished } from "vitest"
import type { TestGateway, TestTenant } from "./start-gateway.ts"

/** Sends a GET on a connection of its own, which ends with the test. `headers`: whole lines. */
export async function askRaw(of: TestGateway, tenant: TestTenant, path: string, headers = ""): Promise<TLSSocket> {
  const { hostname, port } = new URL(of.url)
  const { certificate, key } = tenant
  const socket = connect({
    host: hostname,
    port: Number(port),
    ca: of.gateway.certificateAuthority,
    checkServerIdentity: () => undefined,
    ...(certificate === undefined || key === undefined ? {} : { cert: certificate, key }),
  })
  onTestFinished(() => void socket.destroy())
  socket.on("error", () => undefined) // it is closed by the gateway
  await once(socket, "secureConnect")
  socket.write(`GET /tenants/${tenant.tenant.name}${path} HTTP/1.1\r\nhost: a\r\n${headers}\r\n`)
  return socket
}
