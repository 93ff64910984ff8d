// Opens the gateway's port and shuts it down gracefully: streams end at once, other requests may finish. The number of connections
// is limited by the number of files that the process may open.

import type { Server as HttpsServer } from "node:https"
import type { AddressInfo, Server } from "node:net"
import type { RequestState } from "../filters/state.ts"
import { maxFiles } from "../metrics/process.ts"
import type { GatewayLimits } from "../options.ts"
import { StartError } from "../start-error.ts"
import type { Arrivals } from "../request/arrivals.ts"

/** Resolves with the port. Rejects with StartError. */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => reject(explainListen(error, host, port))
    server.once("error", failed)
    server.listen(port, host, () => {
      server.removeListener("error", failed)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

/** An HTTP server with or without TLS. */
interface ClosingServer extends Pick<HttpsServer, "closeIdleConnections" | "closeAllConnections"> {
  close(done: () => void): unknown
}

export async function close(server: ClosingServer, active: Arrivals<RequestState>, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const ended = endConnections(server, active)
  const timer = setTimeout(() => cut(server, active), graceMs)
  await closed
  clearTimeout(timer)
  ended()
  cut(server, active)
}

/** Streams end at once, other requests may finish. The returned function must be called when all connections have ended. */
export function endConnections(
  server: Pick<ClosingServer, "closeIdleConnections">,
  active: Arrivals<RequestState>,
): () => void {
  const stopping = new Error("the gateway is stopping")
  for (const state of active.values) if (state.isLongRunning) state.abort(stopping)
  server.closeIdleConnections()
  // A kept connection becomes idle after its last response; Node then closes it only if asked again.
  const sweep = setInterval(() => server.closeIdleConnections(), 50)
  return () => clearInterval(sweep)
}

/** Files of an awake tenant's store: log, tables, lock, manifest. Measured: 4, more during a LevelDB compaction. */
const filesPerAwakeTenant = 8

/** All other files: the gateway's own stores, connections to nodes and webhooks, the runtime. */
const otherFiles = 512

/** The minimum, so that the gateway can serve requests even if the file limit is lower. */
const minConnections = 64

type ConnectionLimits = Pick<GatewayLimits, "maxConnections" | "maxAwakeTenants">

/** The configured number of connections, reduced so that stores and connections stay within the limit of file descriptors. */
export function connectionsOf(
  { maxConnections, maxAwakeTenants }: ConnectionLimits,
  files = maxFiles() ?? Infinity,
): number {
  const left = files - otherFiles - filesPerAwakeTenant * maxAwakeTenants
  return Math.min(maxConnections, Math.max(left, minConnections))
}

function cut(server: ClosingServer, active: Arrivals<RequestState>): void {
  server.closeAllConnections()
  // Node has handed these sockets over and does not count them.
  for (const state of active.values) state.upgrade?.socket.destroy()
}

/** Of a server for which no address is named: of IPv6 and of IPv4, as far as the machine has them. */
export const allAddresses = "all addresses"

/** A StartError that says what to do if a server cannot listen, and other errors unchanged. */
export function explainListen(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const options = { cause: error }
  if (error.code === "EADDRINUSE")
    return new StartError(
      `port ${port} of ${host} is in use by another process. Stop that process, or choose another port`,
      options,
    )
  if (error.code === "EACCES")
    return new StartError(`this user may not listen on port ${port}. Choose one from 1024 on`, options)
  // The last one: the kernel has no IPv6.
  if (["EADDRNOTAVAIL", "ENOTFOUND", "EAFNOSUPPORT"].includes(error.code ?? ""))
    return new StartError(
      `"${host}" is not an address of this machine. 0.0.0.0 selects all of IPv4, and :: all of IPv6 and IPv4`,
      options,
    )
  return error
}
