// How long an idle connection stays open: what the limits say while there are few, a few seconds while there are many. Each takes
// 60 to 150 KiB of the process, and clients of many tenants would each keep one for a while.

import type { Server } from "node:https"
import type { TLSSocket } from "node:tls"
import type { GatewayLimits } from "./options.ts"

/** How long a connection is kept that would be one too many: for the requests of one run of kubectl. */
const crowdedMs = 5_000

type IdleLimits = Pick<GatewayLimits, "maxIdleConnections" | "keepAliveMs">

/** `active`: requests under way, watches included. Looked at whenever a connection comes or goes. */
export function adaptKeepAlive(
  server: Server,
  active: { readonly size: number },
  { maxIdleConnections, keepAliveMs }: IdleLimits,
): void {
  let open = 0
  const moved = (by: number): void => {
    open += by
    // Node asks for it at the end of each answer, and tells clients so.
    server.keepAliveTimeout = open - active.size > maxIdleConnections ? Math.min(crowdedMs, keepAliveMs) : keepAliveMs
  }
  server.on("secureConnection", (socket: TLSSocket) => {
    moved(1)
    socket.once("close", () => moved(-1))
  })
}
