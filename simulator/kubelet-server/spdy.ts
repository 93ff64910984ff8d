// SPDY/3.1, which kubelets still support for kubectl before 1.31 and for port-forward: the upgrade, and streams by type.

import type { IncomingMessage } from "node:http"
import { createRequire } from "node:module"
import type { Duplex } from "node:stream"
/// <reference path="./spdy-transport.d.ts" />
import type { SpdyConnection, SpdyStream, SpdyTransport, SpdyWindow } from "spdy-transport"
import { CallRefused } from "../../client/http/node-server.ts"

export type { SpdyStream }

/** Its seventy files are loaded on demand, since few processes ever have such a client. */
const loadTransport = (): SpdyTransport => createRequire(import.meta.url)("spdy-transport") as SpdyTransport

export const isSpdy = (request: IncomingMessage): boolean => request.headers.upgrade?.toLowerCase() === "spdy/3.1"

/** Responds with 101 and the best protocol of `supported` that the client offers, and starts the connection. */
export function acceptSpdy(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  supported: readonly string[],
  onStream: (stream: SpdyStream) => void,
): SpdyConnection {
  const offered = [request.headers["x-stream-protocol-version"] ?? []]
    .flat()
    .flatMap((text) => text.split(",").map((name) => name.trim()))
  const protocol = supported.find((name) => offered.includes(name))
  if (protocol === undefined)
    throw new CallRefused(
      403,
      `unable to upgrade: unable to negotiate protocol: client supports [${offered.join(" ")}], server accepts [${supported.join(" ")}]`,
    )
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`,
  )
  if (head.length > 0) socket.unshift(head)
  const connection = loadTransport().connection.create(socket, { protocol: "spdy", isServer: true })
  acceptPlainStreams(connection)
  sendAsTaken(connection._spdyState.window, socket)
  connection.on("error", () => socket.destroy()) // the peer disconnected or violated the protocol: it cannot be notified
  connection.on("stream", (stream) => {
    sendWithoutUpdates(stream._spdyState.window)
    stream.on("error", () => stream.destroy())
    // As kubelets: nothing is sent before the answer, which takes longer since its headers are compressed.
    stream.respond(200, {}, (error) => void (error ?? onStream(stream)))
  })
  connection.start(3.1)
  return connection
}

/**
 * Kubernetes' streams have their own headers but none of HTTP's, which the library requires: they are added before it checks. The
 * library's parser is private; the tests of this folder detect changes.
 */
function acceptPlainStreams(connection: SpdyConnection): void {
  const { parser } = connection._spdyState
  const parseKVs = parser.parseKVs.bind(parser)
  const withRequest: typeof parser.parseKVs = (body, callback) =>
    parseKVs(body, (error, headers) => callback(error, headers && { ":method": "POST", ":path": "/", ...headers }))
  parser.parseKVs = withRequest
}

/**
 * kubectl's library (github.com/moby/spdystream) knows no windows: it never says that more may be sent to it, so that a stream would stall
 * after 64 KiB. As with kubelets, only the connection itself makes the sender wait, in the connection's window (sendAsTaken).
 */
function sendWithoutUpdates({ send }: SpdyWindow): void {
  const update: typeof send.update = (_size, sent) => {
    if (sent !== undefined) process.nextTick(sent)
  }
  send.update = update
}

/** The library itself sends whatever the window lets pass. Under way is one piece of each stream, of 8 KiB, beyond the socket's buffer. */
function sendAsTaken({ send }: SpdyWindow, socket: Duplex): void {
  const waiting: (() => void)[] = []
  const update: typeof send.update = (size, sent) => {
    if (sent === undefined) return
    // A stream's end has no bytes, and comes when all before has been sent.
    if (size < 0 && (socket.writableNeedDrain || waiting.length > 0)) waiting.push(sent)
    else process.nextTick(sent)
  }
  socket.on("drain", () => waiting.splice(0).forEach((sent) => process.nextTick(sent)))
  send.update = update
}
