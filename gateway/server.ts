// The spine: the filters of a request in their order. TLS requests a client certificate and accepts any; authentication verifies it
// against the trust roots of the tenant that the request is for. Requests that switch protocols (exec, attach, port-forward) use
// the same chain.

import type { IncomingMessage } from "node:http"
import { createServer, type Server } from "node:https"
import type { Duplex } from "node:stream"
import { closeConnection } from "../client/http/closing.ts"
import { tcpKeepAlive } from "../client/http/tcp-keep-alive.ts"
import type { Log } from "../client/log.ts"
import type { AdminSurfaceParts } from "./admin/surface.ts"
import { createAPIHandler } from "./endpoints/installer.ts"
import { serveAdmin } from "./filters/admin.ts"
import { callAPI } from "./filters/api.ts"
import { withAudit } from "./filters/audit.ts"
import { withAuthentication } from "./filters/authentication.ts"
import { withAuthorization } from "./filters/authorization.ts"
import { withPreparation } from "./filters/preparation.ts"
import { withClassification } from "./filters/classification.ts"
import { type Chain, chainOf, type Filter, GatewayResponse } from "./filters/chain.ts"
import { statusErrors } from "./filters/errors.ts"
import { withImpersonation } from "./filters/impersonation.ts"
import { withFairTurns } from "./filters/fair-turns.ts"
import { withNewConnections } from "./filters/new-connections.ts"
import { withMaxInFlight } from "./filters/max-in-flight.ts"
import { serveMetrics, withMetrics, withTenantMetrics } from "./filters/metrics.ts"
import { serveIssuer } from "./filters/issuer.ts"
import { withRequestState } from "./filters/request-id.ts"
import { withRequestInfo } from "./filters/request-info.ts"
import type { RequestState, Upgrade } from "./filters/state.ts"
import { withTenant } from "./filters/tenant.ts"
import { readTimeout, withTimeout, WriteTimeout } from "./filters/timeout.ts"
import { answerFaults } from "./connections/faults.ts"
import { NewConnections } from "./connections/new-connections.ts"
import { limitHandshakes } from "./connections/handshakes.ts"
import { adaptKeepAlive } from "./connections/keep-alive.ts"
import { endUntaken } from "./connections/untaken.ts"
import { createHttp2Server } from "./http2/server.ts"
import { connectionsOf } from "./connections/listener.ts"
import type { Metrics } from "./metrics/metrics.ts"
import type { GatewayLimits } from "./options.ts"
import type { Arrivals } from "./request/arrivals.ts"
import type { IssuedCertificate } from "./pki/pki.ts"
import { secureContextOf } from "./pki/renewal.ts"
import { oneAtATime, ReadRequest } from "./connections/one-at-a-time.ts"
import type { TenantResolver } from "./tenancy/tenant-resolver.ts"

export interface ServerParts {
  serving: IssuedCertificate
  domain: string | undefined
  /** Offer HTTP/2. */
  http2?: boolean
  resolver: TenantResolver
  admin: AdminSurfaceParts
  metrics: Metrics
  limits: GatewayLimits
  log: Log
  audit: Log | undefined
  /** With several processes: forwards requests for another process (workers/forward.ts), or calls next(). */
  forward?: Filter
}

/** Handle requests from any source. */
export interface Handlers {
  request: Chain
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  newConnections: NewConnections
}

function filtersOf(
  parts: ServerParts,
  upgrades: WeakMap<IncomingMessage, Upgrade>,
  active: Arrivals<RequestState>,
  newConnections: NewConnections,
): Filter[] {
  const { domain, resolver, metrics, limits } = parts
  return [
    withRequestState(upgrades, active),
    withRequestInfo(domain), // tenant from the URL; verb, group, version, resource, namespace, name
    ...(parts.forward === undefined ? [] : [parts.forward]), // to the process that runs the tenant, if it is another one
    withMetrics(metrics),
    withAudit(parts.audit),
    readTimeout,
    withTenant(resolver), // by URL or credential → the tenant's handle; the filters below cannot reach another tenant
    withTenantMetrics(metrics),
    serveAdmin(parts.admin), // /polyplane/v1, for administrators of the gateway; ends here
    withAuthentication, // → user, against this tenant's trust roots only
    withImpersonation(),
    withTimeout(limits.requestTimeoutMs), // not for watch, log, exec, port-forward
    withClassification, // determines the flow schema, for information only
    withNewConnections(newConnections), // a tenant that opens many waits while others wait for handshakes
    withMaxInFlight(limits), // per tenant; 429 + Retry-After
    withFairTurns(limits), // under load, round robin over tenants
    withAuthorization,
    withPreparation, // prepares what the tenant needs from the super cluster before it is used
    serveMetrics(metrics),
    serveIssuer,
    callAPI(createAPIHandler(limits), new WriteTimeout(limits.writeTimeoutMs)),
  ]
}

/** `active`: the requests in progress, which the listener ends on shutdown (listener.ts). */
export function createHandlers(parts: ServerParts, active: Arrivals<RequestState>): Handlers {
  const upgrades = new WeakMap<IncomingMessage, Upgrade>()
  const newConnections = new NewConnections()
  const serve = chainOf(filtersOf(parts, upgrades, active, newConnections), statusErrors(parts.log))
  return {
    newConnections,
    request: oneAtATime(serve),
    upgrade(request, socket, head) {
      if (socket.destroyed) return
      upgrades.set(request, { socket, head })
      serve(request, responseOn(request, socket))
    },
  }
}

/** The server is not listening yet. `active`: as of createHandlers(). */
export function createGatewayServer(parts: ServerParts, handlers: Handlers, active: Arrivals<RequestState>): Server {
  const { limits, log } = parts
  const options = {
    IncomingMessage: ReadRequest,
    ServerResponse: GatewayResponse,
    ...secureContextOf(parts.serving),
    requestCert: true,
    rejectUnauthorized: false,
    ALPNProtocols: ["http/1.1"],
    handshakeTimeout: limits.handshakeTimeoutMs,
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: Math.min(limits.headersTimeoutMs, limits.bodyTimeoutMs), // Node refuses more than the next one
    requestTimeout: limits.bodyTimeoutMs,
    connectionsCheckingInterval: Math.min(limits.headersTimeoutMs, limits.bodyTimeoutMs),
    keepAliveTimeout: limits.keepAliveMs,
    ...tcpKeepAlive,
    noDelay: true,
    requireHostHeader: false, // its absence is told in words (filters/request-info.ts)
  }
  const server =
    parts.http2 === true
      ? createHttp2Server(options, limits, handlers.request)
      : createServer(options, handlers.request)
  // Node would not read the body of a request that it gives away, though few can be upgraded. Of a server for HTTP/2 it is no option.
  Object.assign(server, { shouldUpgradeCallback: (request: IncomingMessage) => !mayHaveBody(request) })
  server.maxConnections = connectionsOf(limits)
  server.maxHeadersCount = 0 // their bytes are limited; Node would take no more than 1,000, and groups are a header each
  handlers.newConnections.follow(limitHandshakes(server))
  answerFaults(server)
  adaptKeepAlive(server, active, limits)
  endUntaken(server, active, limits.requestTimeoutMs)
  server.on("checkContinue", (request: IncomingMessage, response: GatewayResponse) => {
    if (mayHaveBody(request)) response.writeContinue()
    handlers.request(request, response)
  })
  server.on("checkExpectation", (request: IncomingMessage, response: GatewayResponse) => {
    // As in Go, which looks at it in HTTP/1 alone.
    if (request.headers.expect === "" || request.httpVersionMajor > 1) {
      handlers.request(request, response)
      return
    }
    response.shouldKeepAlive = false
    response.writeHead(417, { "content-length": 0 }).end()
  })
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) =>
    handlers.upgrade(request, socket, head),
  )
  server.on("tlsClientError", (error) => log.debug({ error: error.message }, "TLS handshake failed"))
  return server
}

/** Without a body there is no 100 Continue. HTTP/2 streams need not declare a body. */
function mayHaveBody({ headers, httpVersionMajor }: IncomingMessage): boolean {
  return httpVersionMajor > 1 || headers["transfer-encoding"] !== undefined || Number(headers["content-length"]) > 0
}

/** What the chain answers on when Node has given the connection away: one answer, then the connection ends. */
function responseOn(request: IncomingMessage, socket: Duplex): GatewayResponse {
  const response = new GatewayResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket as Parameters<GatewayResponse["assignSocket"]>[0])
  socket.on("drain", () => response.emit("drain")) // which Node tells no more
  response.once("finish", () => {
    response.detachSocket(socket as Parameters<GatewayResponse["assignSocket"]>[0])
    closeConnection(socket)
  })
  socket.on("error", () => socket.destroy()) // the peer has disconnected; the users of the socket observe its close
  return response
}
