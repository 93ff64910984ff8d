// The properties of a client's connection that another process accepted before it forwarded the request (gateway/workers/). For
// requests that this process accepted, they come from the socket.

import type { IncomingMessage } from "node:http"

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
