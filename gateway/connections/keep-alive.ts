// The keep-alive timeout of idle connections: the configured limit while there are few, a few seconds while there are many. Each
// connection takes 60 to 150 KiB of memory, and clients of many tenants would each keep one for a while.

import type { Server } from "node:https"
import type { TLSSocket } from "node:tls"
import type { GatewayLimits } from "../options.ts"

/** The timeout while there are too many connections: long enough for the requests of one run of kubectl. */
const crowdedMs = 5_000

type IdleLimits = Pick<GatewayLimits, "maxIdleConnections" | "keepAliveMs">

/** `active`: requests in progress, including watches. The timeout is updated when a connection opens or closes. */
export function adaptKeepAlive(
  server: Server,
  active: { readonly size: number },
  { maxIdleConnections, keepAliveMs }: IdleLimits,
): void {
  let open = 0
  const moved = (by: number): void => {
    open += by
    // Node reads it at the end of each response and sends it to clients.
    server.keepAliveTimeout = open - active.size > maxIdleConnections ? Math.min(crowdedMs, keepAliveMs) : keepAliveMs
  }
  server.on("secureConnection", (socket: TLSSocket) => {
    moved(1)
    socket.once("close", () => moved(-1))
  })
}
