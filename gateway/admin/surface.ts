// The API for syncer, controllers and operator in separate processes: the tenants, and one watch of a resource over all of them.
// client/remote-tenants.ts is its client; both change together.
//
//   GET    /polyplane/v1/tenants                   {"items": [Tenant]}
//   GET    /polyplane/v1/tenants?watch=true        lines of TenantLine
//   POST   /polyplane/v1/tenants                   Tenant without uid → Tenant
//   DELETE /polyplane/v1/tenants/<name>            Status, when nothing is left (*)
//   DELETE /polyplane/v1/tenants/<name>/owned?namespace=&uid=          likewise, if it belongs to the VirtualCluster with that uid
//   GET    /polyplane/v1/tenants/<name>/address    TenantAddress
//   GET    /polyplane/v1/tenants/<name>/kubeconfig YAML (*)
//   POST   /polyplane/v1/tenants/<name>/wake       Status (**)
//   GET    /polyplane/v1/faults                    {"items": [TenantFault]}
//   GET    /polyplane/v1/watch?group=&version=&resource=&namespaced=   lines of ObjectsLine
//
// (*) of the tenant with the uid that the request names in a header, if it does; (**) no use of it, if another header says so

import express, { type ErrorRequestHandler, type RequestHandler, type Router } from "express"
import { badRequest, methodNotAllowed, requestEntityTooLarge, StatusError, success } from "../../apimachinery/status.ts"
import type { Resource } from "../../client/rest.ts"
import {
  quotaNames,
  asGiven,
  type Tenant,
  type TenantAdmin,
  type TenantIdentity,
  type TenantQuota,
} from "../../client/tenants.ts"
import type { GatewayRequest, GatewayResponse } from "../filters/chain.ts"
import { meantUID, useOf } from "../request/named-tenant.ts"
import type { TenantValueHandler } from "../tenancy/subscriptions.ts"
import { LineStream } from "./line-stream.ts"

/** Objects as JSON text. */
export interface TenantBytesHandler extends Omit<TenantValueHandler, "event"> {
  event(tenant: string, type: "ADDED" | "MODIFIED" | "DELETED", value: { bytes(): Uint8Array }): void
}

export interface AdminSurfaceParts {
  tenants: TenantAdmin & { watchValues(of: Resource, handler: TenantBytesHandler, signal: AbortSignal): void }
  limits: { maxBodyBytes: number; maxWatchBacklogBytes: number }
}

interface AdminRequest extends GatewayRequest {
  params: Readonly<Record<string, string>>
  /** Of a POST. */
  body?: unknown
}

type Handler = (request: AdminRequest, response: GatewayResponse) => void | Promise<void>

/**
 * Passes unknown paths and StatusErrors on. A router and not an application of express: that would replace the prototypes of request
 * and response, which over HTTP/2 are Node's stream and a class of ours.
 */
export function createAdminSurface(parts: AdminSurfaceParts): Router {
  const { tenants, limits } = parts
  const router = express.Router()
  const named = ({ params }: AdminRequest): string => params["name"] ?? ""
  const meant = (request: AdminRequest): string | TenantIdentity => {
    const [name, uid] = [named(request), meantUID(request)]
    return uid === undefined ? name : { name, uid }
  }
  serve(router, "/polyplane/v1/tenants", {
    get: (_request, response) => {
      if (response.locals.state.query.has("watch")) watchTenants(parts, response)
      else sendJson(response, { items: tenants.list() })
    },
    post: [
      express.json({ limit: limits.maxBodyBytes, type: () => true }),
      async (request, response) => sendJson(response, await tenants.create(tenantOf(request.body)), 201),
    ],
  })
  serve(router, "/polyplane/v1/tenants/:name", {
    delete: async (request, response) => {
      await tenants.delete(meant(request))
      sendJson(response, success())
    },
  })
  serve(router, "/polyplane/v1/tenants/:name/owned", {
    delete: async (request, response) => {
      const { query } = response.locals.state
      const owner = { namespace: required(query, "namespace"), uid: required(query, "uid") }
      await tenants.delete({ ...asGiven(meant(request)), owner })
      sendJson(response, success())
    },
  })
  serve(router, "/polyplane/v1/tenants/:name/address", {
    get: async (request, response) => sendJson(response, await tenants.address(named(request))),
  })
  serve(router, "/polyplane/v1/tenants/:name/kubeconfig", {
    get: async (request, response) => send(response, await tenants.kubeconfig(meant(request)), "application/yaml"),
  })
  serve(router, "/polyplane/v1/tenants/:name/wake", {
    post: (request, response) => {
      tenants.wake(named(request), useOf(request))
      sendJson(response, success())
    },
  })
  serve(router, "/polyplane/v1/faults", {
    get: async (_request, response) => sendJson(response, { items: await tenants.faults() }),
  })
  serve(router, "/polyplane/v1/watch", {
    get: (_request, response) => watchResource(parts, response.locals.state.query, response),
  })
  router.use(statusErrors)
  return router
}

type Handlers = Partial<Record<"get" | "post" | "delete", Handler | [body: RequestHandler, Handler]>>

/** Other methods are not allowed. */
function serve(router: Router, path: string, handlers: Handlers): void {
  const route = router.route(path)
  for (const [method, given] of Object.entries(handlers) as [keyof Handlers, Handlers[keyof Handlers] & {}][]) {
    const [before, handler] = Array.isArray(given) ? [[given[0]], given[1]] : [[], given]
    route[method](...before, (request, response) =>
      handler(request as unknown as AdminRequest, response as unknown as GatewayResponse),
    )
  }
  route.all(() => {
    throw methodNotAllowed()
  })
}

function sendJson(response: GatewayResponse, value: unknown, code = 200): void {
  send(response, JSON.stringify(value), "application/json; charset=utf-8", code)
}

function send(response: GatewayResponse, text: string, type: string, code = 200): void {
  const body = Buffer.from(text)
  response.writeHead(code, { "content-type": type, "content-length": body.byteLength })
  response.end(body)
}

/** Converts express' errors about bodies to StatusErrors. */
const statusErrors: ErrorRequestHandler = (error: Error & { type?: string }, _request, _response, next) => {
  if (error instanceof StatusError) next(error)
  else if (error.type === "entity.too.large") next(requestEntityTooLarge(error.message))
  else if (error.type === "entity.parse.failed") next(badRequest("the body is not JSON", { cause: error }))
  else next(error)
}

function watchTenants(parts: AdminSurfaceParts, response: GatewayResponse): void {
  const stream = new LineStream(response, parts.limits.maxWatchBacklogBytes)
  const tell = (tenant: Tenant): void => stream.write(JSON.stringify({ type: "ADDED", tenant }))
  const stop = parts.tenants.subscribe({
    added: tell,
    changed: tell,
    removed: (tenant) => stream.write(JSON.stringify({ type: "REMOVED", tenant })),
  })
  stream.write(`{"type":"SYNCED"}`)
  response.locals.state.whenDone(stop)
}

function watchResource(parts: AdminSurfaceParts, query: URLSearchParams, response: GatewayResponse): void {
  const resource: Resource = {
    group: query.get("group") ?? "",
    version: required(query, "version"),
    resource: required(query, "resource"),
    namespaced: query.get("namespaced") === "true",
  }
  const stream = new LineStream(response, parts.limits.maxWatchBacklogBytes)
  const send = (type: string) => (tenant: string) =>
    stream.write(`{"type":"${type}","tenant":${JSON.stringify(tenant)}}`)
  parts.tenants.watchValues(
    resource,
    {
      // The stored bytes of the object are sent without parsing.
      event: (tenant, type, value) =>
        stream.write(`{"type":"${type}","tenant":${JSON.stringify(tenant)},"object":`, value.bytes(), "}"),
      synced: (tenant) => stream.write(JSON.stringify({ type: "SYNCED", tenant, uid: parts.tenants.get(tenant)?.uid })),
      removed: send("REMOVED"),
      restarted: send("RESTARTED"),
      asleep: send("ASLEEP"),
    },
    response.locals.state.signal,
  )
}

function required(query: URLSearchParams, name: string): string {
  const value = query.get(name)
  if (value === null || value === "") throw badRequest(`the query must say ${name}`)
  return value
}

function tenantOf(value: unknown): Omit<Tenant, "uid"> {
  const tenant = value as Partial<Omit<Tenant, "uid">> | null
  if (
    typeof tenant?.name !== "string" ||
    typeof tenant.clusterKey !== "string" ||
    typeof tenant.virtualCluster?.uid !== "string"
  )
    throw badRequest("a tenant has a name, a clusterKey and a virtualCluster")
  const { name, virtualCluster, clusterKey } = tenant
  return {
    name,
    virtualCluster,
    clusterKey,
    clusterDomain: tenant.clusterDomain ?? "cluster.local",
    transparentMetaPrefixes: tenant.transparentMetaPrefixes ?? [],
    opaqueMetaPrefixes: tenant.opaqueMetaPrefixes ?? [],
    controllers: tenant.controllers ?? true,
    ...(tenant.quota === undefined ? {} : { quota: quotaOf(tenant.quota) }),
  }
}

function quotaOf(given: TenantQuota): TenantQuota {
  const quota: TenantQuota = {}
  for (const name of quotaNames) {
    const limit = given[name]
    if (limit === undefined) continue
    if (!Number.isSafeInteger(limit) || limit < 0) throw badRequest("a tenant's quota is of whole numbers")
    quota[name] = limit
  }
  return quota
}
