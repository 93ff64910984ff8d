// A limit of a server's connections that clients without permission cannot use up: everybody who reaches the port can open connections,
// but only calls that are permitted last.

import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"

interface Connection {
  readonly peer: string
  readonly socket: Socket
  /** In progress. Clients may send some before the earlier ones are answered. */
  requests: number
}

/**
 * From now on a connection beyond the limit replaces the one that has been without a request for longest; if there is none, it is closed
 * at once. Returns all connections, including those in a TLS handshake and upgraded ones.
 */
export function limitConnections(server: Server, maxConnections: number): ReadonlySet<Socket> {
  const sockets = new Set<Socket>()
  const idle = new Set<Connection>()
  /** A secure socket does not expose the socket below it. */
  const byPeer = new Map<string, Connection>()

  const drop = (connection: Connection): void => {
    const { peer, socket } = connection
    socket.destroy()
    sockets.delete(socket)
    idle.delete(connection)
    // A later connection may be from the same port.
    if (byPeer.get(peer) === connection) byPeer.delete(peer)
  }
  const begin = (request: IncomingMessage): Connection | undefined => {
    const connection = byPeer.get(peerOf(request.socket))
    if (connection === undefined) return undefined
    connection.requests++
    idle.delete(connection)
    return connection
  }
  const end = (connection: Connection): void => {
    connection.requests--
    if (connection.requests === 0 && sockets.has(connection.socket)) idle.add(connection)
  }

  server.on("connection", (socket: Socket) => {
    if (sockets.size >= maxConnections) {
      const [oldest] = idle
      if (oldest === undefined) {
        socket.destroy()
        return
      }
      drop(oldest)
    }
    const connection = { peer: peerOf(socket), socket, requests: 0 }
    sockets.add(socket)
    idle.add(connection)
    byPeer.set(connection.peer, connection)
    socket.once("close", () => drop(connection))
  })
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const connection = begin(request)
    if (connection !== undefined) response.once("close", () => end(connection))
  })
  server.on("upgrade", begin)
  return sockets
}

/** Unique among the connections of a server. */
export function peerOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`
}
