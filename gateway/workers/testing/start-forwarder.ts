// A process that forwards the requests of the tenants "a" and "b" to their owner, over HTTP/1.1 and over HTTP/2 without TLS.

import { once } from "node:events"
import { rm } from "node:fs/promises"
import { createServer, type RequestListener, type Server } from "node:http"
import { createServer as createHttp2Server, type Http2ServerRequest, type Http2ServerResponse } from "node:http2"
import type { AddressInfo, Server as NetServer } from "node:net"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { silentLog } from "../../../client/log.ts"
import { temporaryFolder } from "../../../test/harness/folders.ts"
import { oneAtATime } from "../../connections/one-at-a-time.ts"
import { chainOf, GatewayResponse } from "../../filters/chain.ts"
import { statusErrors } from "../../filters/errors.ts"
import { withRequestState } from "../../filters/request-id.ts"
import { withRequestInfo } from "../../filters/request-info.ts"
import type { RequestState } from "../../filters/state.ts"
import { rememberSocket, StreamRequest } from "../../http2/stream-request.ts"
import { StreamResponse } from "../../http2/stream-response.ts"
import { Arrivals } from "../../request/arrivals.ts"
import { Forwarder } from "../forward.ts"
import { createSecret, ForwardedIdentity } from "../forwarded-identity.ts"
import { Routes } from "../routes.ts"

const limits = {
  requestTimeoutMs: 60_000,
  maxInFlight: 1,
  maxWaiting: 1,
  maxLongRunning: 1,
  maxUnsentBytes: 2 * 1024 * 1024,
}

interface StartedForwarder {
  port: number
  http2Port: number
  /** The owner's. */
  owner: Server
}

/** All ends with the test. */
export async function startForwarder(
  answer: RequestListener,
  { routes = new Routes(0), active = new Arrivals<RequestState>() } = {},
): Promise<StartedForwarder> {
  const folder = await temporaryFolder("polyplane-forward")
  onTestFinished(() => rm(folder, { recursive: true }))
  const socketOf = (): string => join(folder, "1.sock")
  const owner = closing(createServer({ keepAliveTimeout: 0 }, answer))
  await once(owner.listen(socketOf()), "listening")
  routes.set(["a", "b"].map((name) => ({ name, uid: `uid-${name}`, issuer: `issuer-${name}`, owner: 1 })))
  const forwarder = new Forwarder({ routes, identity: new ForwardedIdentity(createSecret()), socketOf, limits })
  onTestFinished(() => forwarder[Symbol.dispose]())
  const filters = [withRequestState(new WeakMap(), active), withRequestInfo(undefined), forwarder.filter]
  const serve = chainOf(filters, statusErrors(silentLog))
  const server = closing(createServer({ ServerResponse: GatewayResponse }, oneAtATime(serve)))
  const classes = { Http2ServerRequest: StreamRequest, Http2ServerResponse: StreamResponse } as unknown as {
    Http2ServerRequest: typeof Http2ServerRequest
    Http2ServerResponse: typeof Http2ServerResponse
  }
  const http2Server = createHttp2Server(classes, serve as unknown as (request: Http2ServerRequest) => void)
  http2Server.on("session", (session) => rememberSocket(session, session.socket))
  onTestFinished(() => void http2Server.close())
  const [port, http2Port] = await Promise.all([listen(server), listen(http2Server)])
  return { port, http2Port, owner }
}

function closing(server: Server): Server {
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return server
}

async function listen(server: NetServer): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening")
  return (server.address() as AddressInfo).port
}
