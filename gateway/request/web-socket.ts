// A client that asked for a WebSocket, and what is opened to one that is only sent to: browsers, which cannot read a body that
// does not end.

import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { WebSocketServer, type WebSocket } from "ws"

/** Nothing is expected from the client. */
const maxMessageBytes = 1024
/** Of a message. Each keeps all that came with it, up to 64 KiB, until the last has come. */
export const maxFragments = 16

/** Messages, pings and pongs of a client that are passed on in one turn of the event loop. What is read at once may be ten thousand. */
export const maxMessagesPerTurn = 64

export function isWebSocket(request: IncomingMessage): boolean {
  return request.headers.upgrade?.toLowerCase() === "websocket"
}

/** undefined: the client has disconnected, or its request was not a handshake and has been answered with an error. */
export async function openWebSocket(
  request: IncomingMessage,
  { socket, head }: { socket: Duplex; head: Buffer },
  handleProtocols: (offered: Set<string>) => string | false,
): Promise<WebSocket | undefined> {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    maxFragments,
    handleProtocols,
    allowSynchronousEvents: false, // the client has nothing to say: one frame per turn of the event loop
  })
  const { promise, resolve } = Promise.withResolvers<WebSocket>()
  server.handleUpgrade(request, socket, head, (client) => {
    client.on("error", () => client.terminate())
    resolve(client)
  })
  return Promise.race([promise, once(socket, "close").then(() => undefined)])
}

/** What the library knows only for all messages of a WebSocket: whether one has to wait for the next turn of the event loop. */
interface Receiver {
  _allowSynchronousEvents: boolean
}

/** Of a WebSocket on which much comes: behind the most of a turn, each message waits for the next one. */
export function limitMessagesPerTurn(client: WebSocket): void {
  const { _receiver: receiver } = client as unknown as { _receiver: Receiver }
  let messages = 0
  const begin = (): void => {
    messages = 0
    receiver._allowSynchronousEvents = true
  }
  const count = (): void => {
    if (messages === 0) setImmediate(begin)
    if (++messages >= maxMessagesPerTurn) receiver._allowSynchronousEvents = false
  }
  client.on("message", count).on("ping", count).on("pong", count)
}
