// A client that asked for a WebSocket, and what is opened to one that is only sent to: browsers, which cannot read a body that
// does not end.

import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { WebSocketServer, type WebSocket } from "ws"

/** Nothing is expected from the client. */
const maxMessageBytes = 1024

export function isWebSocket(request: IncomingMessage): boolean {
  return request.headers.upgrade?.toLowerCase() === "websocket"
}

/** undefined: the client has disconnected, or its request was not a handshake and has been answered with an error. */
export async function openWebSocket(
  request: IncomingMessage,
  { socket, head }: { socket: Duplex; head: Buffer },
  handleProtocols: (offered: Set<string>) => string | false,
): Promise<WebSocket | undefined> {
  const server = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes, handleProtocols })
  const { promise, resolve } = Promise.withResolvers<WebSocket>()
  server.handleUpgrade(request, socket, head, (client) => {
    client.on("error", () => client.terminate())
    resolve(client)
  })
  return Promise.race([promise, once(socket, "close").then(() => undefined)])
}
