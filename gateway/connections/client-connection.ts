// The client's connection: that of the request, or the one that another process accepted before it forwarded the request
// (gateway/workers/).

import type { IncomingMessage } from "node:http"
import { TLSSocket } from "node:tls"

export interface ForwardedConnection {
  /** DER of the client certificate and its chain, leaf first. All requests of one connection share the arrays. */
  readonly certificates: readonly Uint8Array[]
  /** The TLS server name. */
  readonly serverName: string | undefined
  readonly remoteAddress: string | undefined
}

const forwarded = new WeakMap<IncomingMessage, ForwardedConnection>()

export function forwardedConnection(request: IncomingMessage): ForwardedConnection | undefined {
  return forwarded.get(request)
}

/** May be called only after verifying that the data comes from a process of this gateway. */
export function setForwardedConnection(request: IncomingMessage, connection: ForwardedConnection): void {
  forwarded.set(request, connection)
}

export function clientAddress(request: IncomingMessage): string | undefined {
  return request.socket.remoteAddress ?? forwarded.get(request)?.remoteAddress
}

export function serverNameOf(request: IncomingMessage): string | undefined {
  const { socket } = request
  return (socket instanceof TLSSocket ? socket.servername : forwarded.get(request)?.serverName) || undefined
}
