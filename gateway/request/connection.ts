// What is known of the connection a client's request came over when another process of ours accepted it and passed the
// request on (gateway/workers/). Of a request that came straight to this process the socket itself is asked.

import type { IncomingMessage } from "node:http"

export interface ForwardedConnection {
  /** DER of the client certificate and its chain, leaf first. The same arrays for all requests of one connection. */
  readonly certificates: readonly Uint8Array[]
  /** The TLS server name. */
  readonly serverName: string | undefined
  readonly remoteAddress: string | undefined
}

const forwarded = new WeakMap<IncomingMessage, ForwardedConnection>()

export function forwardedConnection(request: IncomingMessage): ForwardedConnection | undefined {
  return forwarded.get(request)
}

/** Only for who has made sure that a process of ours says so. */
export function setForwardedConnection(request: IncomingMessage, connection: ForwardedConnection): void {
  forwarded.set(request, connection)
}
