// The socket on which a process serves the other processes. It is in a directory that only this user may enter, and callers must
// also know the secret of this start; otherwise every request is answered with 401.

import { once } from "node:events"
import { rm } from "node:fs/promises"
import { createServer, type IncomingMessage } from "node:http"
import { join } from "node:path"
import type { Duplex } from "node:stream"
import { GatewayResponse } from "../filters/chain.ts"
import type { RequestState } from "../filters/state.ts"
import type { Arrivals } from "../request/arrivals.ts"
import type { Handlers } from "../server.ts"
import { close } from "../connections/listener.ts"
import type { ForwardedIdentity } from "./forwarded-identity.ts"

/** Headers of a client, and its certificates. */
const maxHeaderBytes = 256 * 1024
/** Connections waiting to be accepted; the system may allow fewer. */
const backlog = 4096

/** The socket of the process with that number. */
export function socketPath(directory: string, self: number): string {
  return join(directory, `${self}.sock`)
}

interface PrivateServerParts {
  path: string
  handlers: Handlers
  identity: ForwardedIdentity
  active: Arrivals<RequestState>
  shutdownMs: number
}

export async function listenPrivately(parts: PrivateServerParts): Promise<AsyncDisposable> {
  const { path, handlers, identity, active, shutdownMs } = parts
  const server = createServer(
    {
      ServerResponse: GatewayResponse,
      maxHeaderSize: maxHeaderBytes,
      // The process that accepted the client's connection enforces these timeouts.
      requestTimeout: 0,
      headersTimeout: 0,
      keepAliveTimeout: 0,
    },
    (request, response) => {
      if (identity.accept(request)) handlers.request(request, response)
      else response.writeHead(401, { Connection: "close" }).end()
    },
  )
  server.maxHeadersCount = 0 // as many as came
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (identity.accept(request)) handlers.upgrade(request, socket, head)
    else socket.destroy()
  })
  await rm(path, { force: true }) // left over from an earlier start
  server.listen({ path, backlog })
  await once(server, "listening")
  return { [Symbol.asyncDispose]: () => close(server, active, shutdownMs) }
}
