// A kubelet that answers every call: lines of a log, an echo over WebSocket or SPDY.

import { once } from "node:events"
import { createServer } from "node:https"
import type { AddressInfo, Socket } from "node:net"
import { WebSocketServer } from "ws"

interface Observed {
  /** Requests that have reached it. */
  seen: string[]
  /** Its connections. */
  sockets: Set<Socket>
  /** What it answers to every call. */
  refusal?: { code: number; body: string } | undefined
  /** What it answers to every other request, all bytes of the connection. */
  log?: string | undefined
}

export async function startKubelet(
  tls: { cert: string; key: string; ca: string },
  observed: Observed,
  host = "127.0.0.1",
) {
  const { seen, sockets } = observed
  const webSockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: { threshold: 0 },
    handleProtocols: (offered) => ["v5.channel.k8s.io", "v4.channel.k8s.io"].find((name) => offered.has(name)) ?? false,
  })
  // The limit of Go's servers.
  const maxHeaderSize = 1024 * 1024
  const options = { ...tls, maxHeaderSize, requestCert: true, rejectUnauthorized: true }
  const server = createServer(options, (request, response) => {
    const { authorization = "", "impersonate-user": impersonated = "", cookie = "" } = request.headers
    seen.push(`${request.method} ${request.url} ${authorization} ${String(impersonated)} ${cookie}`.trim())
    const { refusal, log } = observed
    if (log !== undefined) return void response.socket?.end(log)
    if (refusal !== undefined) return void response.writeHead(refusal.code).end(refusal.body)
    response.write("line 1\n")
    if (request.url?.includes("follow=true") !== true) response.end("line 2\n")
  })
  server.on("secureConnection", (socket: Socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
    socket.on("error", () => socket.destroy())
  })
  server.on("upgrade", (request, socket, head) => {
    seen.push(`${request.method} ${request.url} ${request.headers.authorization ?? ""}`.trim())
    const { refusal } = observed
    if (refusal !== undefined) {
      const { code, body } = refusal
      socket.end(`HTTP/1.1 ${code} Refused\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`)
    } else if (request.headers.upgrade === "websocket") {
      webSockets.handleUpgrade(request, socket, head, (connection) =>
        connection.on("message", (data: Buffer) => connection.send(data)),
      )
    } else if (request.headers["x-stream-protocol-version"] === undefined) {
      socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 11\r\nConnection: close\r\n\r\nno protocol")
    } else {
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${String(request.headers["x-stream-protocol-version"])}\r\n\r\n`,
      )
      socket.pipe(socket)
    }
  })
  await once(server.listen(0, host), "listening")
  const close = (): void => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return { server, port: (server.address() as AddressInfo).port, close }
}
