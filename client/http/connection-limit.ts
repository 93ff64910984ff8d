// A limit of a server's connections that clients without permission cannot use up: everybody who reaches the port can open connections,
// but only calls that are permitted last.

import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/**
 * From now on a connection beyond the limit replaces the one that has been without a request for longest; if there is none, it is closed
 * at once. Returns all connections, including those in a TLS handshake and upgraded ones.
 */
export function limitConnections(server: Server, maxConnections: number): ReadonlySet<Socket> {
  const sockets = new Set<Socket>()
  /** Those without a request in progress, by peer, since a secure socket does not expose the socket below it. */
  const idle = new Map<string, Socket>()

  const drop = (socket: Socket, peer: string): void => {
    socket.destroy()
    sockets.delete(socket)
    // A later connection may be from the same port.
    if (idle.get(peer) === socket) idle.delete(peer)
  }
  server.on("connection", (socket: Socket) => {
    const peer = peerOf(socket)
    if (sockets.size >= maxConnections) {
      const [oldest] = idle
      if (oldest === undefined) {
        socket.destroy()
        return
      }
      drop(oldest[1], oldest[0])
    }
    sockets.add(socket)
    idle.set(peer, socket)
    socket.once("close", () => drop(socket, peer))
  })
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const peer = peerOf(request.socket)
    const socket = idle.get(peer)
    idle.delete(peer)
    response.once("close", () => {
      if (socket !== undefined && sockets.has(socket)) idle.set(peer, socket)
    })
  })
  server.on("upgrade", (request: IncomingMessage) => void idle.delete(peerOf(request.socket)))
  return sockets
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
