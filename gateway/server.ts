// The spine: what a request passes, in running order. TLS asks for a client certificate and takes any: whose it is and
// what it is good for is decided by authentication, against the trust roots of the tenant the request is for.
// Requests that switch protocols (exec, attach, port-forward) pass the same chain.

import type { IncomingMessage } from "node:http"
import { createServer, type Server } from "node:https"
import type { Duplex } from "node:stream"
import type { Log } from "../client/log.ts"
import { createAdminSurface, type AdminSurfaceParts } from "./admin/surface.ts"
import { createAPIHandler } from "./endpoints/installer.ts"
import { serveAdmin } from "./filters/admin.ts"
import { callAPI } from "./filters/api.ts"
import { withAudit } from "./filters/audit.ts"
import { withAuthentication } from "./filters/authentication.ts"
import { withAuthorization } from "./filters/authorization.ts"
import { withPreparation } from "./filters/preparation.ts"
import { withClassification } from "./filters/classification.ts"
import { type Chain, chainOf, GatewayResponse } from "./filters/chain.ts"
import { statusErrors } from "./filters/errors.ts"
import { withImpersonation } from "./filters/impersonation.ts"
import { withFairTurns } from "./filters/fair-turns.ts"
import { withMaxInFlight } from "./filters/max-in-flight.ts"
import { serveMetrics, withMetrics, withTenantMetrics } from "./filters/metrics.ts"
import { serveIssuer } from "./filters/issuer.ts"
import { withRequestState } from "./filters/request-id.ts"
import { withRequestInfo } from "./filters/request-info.ts"
import type { Filter, RequestState, Upgrade } from "./filters/state.ts"
import { withTenant } from "./filters/tenant.ts"
import { withTimeout } from "./filters/timeout.ts"
import { limitHandshakes } from "./handshakes.ts"
import { createHttp2Server } from "./http2/server.ts"
import { connectionsOf } from "./listener.ts"
import type { Metrics } from "./metrics/metrics.ts"
import type { GatewayLimits } from "./options.ts"
import type { Comings } from "./request/comings.ts"
import { secureContextOf } from "./renewal.ts"
import { oneAtATime, ReadRequest } from "./request/one-at-a-time.ts"
import { ThreadPlaces } from "./request/thread-places.ts"
import { Turns } from "./request/turns.ts"
import type { TenantResolver } from "./tenancy/tenant-resolver.ts"

export interface ServerParts {
  certificate: string
  key: string
  domain: string | undefined
  /** Offered. */
  http2?: boolean
  resolver: TenantResolver
  admin: AdminSurfaceParts
  metrics: Metrics
  limits: GatewayLimits
  log: Log
  audit: Log | undefined
  /** Of several processes: passes on what is for another one (workers/forward.ts), or calls next(). */
  forward?: Filter
}

/** What answers requests, wherever they come from. */
export interface Handlers {
  request: Chain
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
}

function filtersOf(
  parts: ServerParts,
  upgrades: WeakMap<IncomingMessage, Upgrade>,
  active: Comings<RequestState>,
): Filter[] {
  const { domain, resolver, metrics, limits } = parts
  return [
    withRequestState(upgrades, active),
    withRequestInfo(domain), // which tenant the URL names; verb, group, version, resource, namespace, name
    ...(parts.forward === undefined ? [] : [parts.forward]), // to the process that has the tenant, if that is another
    withMetrics(metrics),
    withAudit(parts.audit),
    withTenant(resolver), // by URL or credential → the tenant's handle; nothing below can name another's
    withTenantMetrics(metrics),
    serveAdmin(createAdminSurface(parts.admin)), // /polyplane/v1, for administrators of the gateway; ends here
    withAuthentication, // → user, against this tenant's trust roots only
    withImpersonation,
    withTimeout(limits.requestTimeoutMs), // not for watch, log, exec, port-forward
    withClassification, // which flow schema it is of: told, not acted upon
    withMaxInFlight(limits), // per tenant; 429 + Retry-After
    withFairTurns(new Turns(), new ThreadPlaces()), // of a crowd, in turn over tenants
    withAuthorization,
    withPreparation, // what a tenant needs of the super cluster is there before it is used
    serveMetrics(metrics),
    serveIssuer,
    callAPI(createAPIHandler(limits)),
  ]
}

/** `active`: the requests under way, kept for who ends them (listener.ts). */
export function createHandlers(parts: ServerParts, active: Comings<RequestState>): Handlers {
  const upgrades = new WeakMap<IncomingMessage, Upgrade>()
  const serve = chainOf(filtersOf(parts, upgrades, active), statusErrors(parts.log))
  return {
    request: oneAtATime(serve),
    upgrade(request, socket, head) {
      if (socket.destroyed) return
      upgrades.set(request, { socket, head })
      serve(request, responseOn(request, socket))
    },
  }
}

/** Not listening yet. */
export function createGatewayServer(parts: ServerParts, handlers: Handlers): Server {
  const { limits, log } = parts
  const options = {
    IncomingMessage: ReadRequest,
    ServerResponse: GatewayResponse,
    ...secureContextOf(parts),
    requestCert: true,
    rejectUnauthorized: false,
    ALPNProtocols: ["http/1.1"],
    handshakeTimeout: limits.handshakeTimeoutMs,
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.bodyTimeoutMs,
    connectionsCheckingInterval: Math.min(limits.headersTimeoutMs, limits.bodyTimeoutMs),
    keepAliveTimeout: limits.keepAliveMs,
    noDelay: true,
  }
  const server =
    parts.http2 === true
      ? createHttp2Server(options, limits, handlers.request)
      : createServer(options, handlers.request)
  server.maxConnections = connectionsOf(limits)
  limitHandshakes(server)
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) =>
    handlers.upgrade(request, socket, head),
  )
  server.on("tlsClientError", (error) => log.debug({ error: error.message }, "TLS handshake failed"))
  return server
}

/** What the chain answers on when Node has given the connection away: one answer, then the connection ends. */
function responseOn(request: IncomingMessage, socket: Duplex): GatewayResponse {
  const response = new GatewayResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket as Parameters<GatewayResponse["assignSocket"]>[0])
  response.once("finish", () => {
    response.detachSocket(socket as Parameters<GatewayResponse["assignSocket"]>[0])
    socket.end()
  })
  socket.on("error", () => socket.destroy()) // the peer is gone; whoever uses the socket sees it close
  return response
}
