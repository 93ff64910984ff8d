// The API for syncer, controllers and operator in separate processes: the tenants, and one watch of a resource over all of them.
// client/remote-tenants.ts is its client; both change together.
//
//   GET    /polyplane/v1/tenants                   {"items": [Tenant]}
//   GET    /polyplane/v1/tenants?watch=true        lines of TenantLine
//   POST   /polyplane/v1/tenants                   Tenant without uid → Tenant
//   DELETE /polyplane/v1/tenants/<name>            Status, when nothing is left
//   GET    /polyplane/v1/tenants/<name>/address    TenantAddress
//   GET    /polyplane/v1/tenants/<name>/kubeconfig YAML
//   POST   /polyplane/v1/tenants/<name>/wake       Status
//   GET    /polyplane/v1/faults                    {"items": [TenantFault]}
//   GET    /polyplane/v1/watch?group=&version=&resource=&namespaced=   lines of WatchLine

import express, { type ErrorRequestHandler, type Express, type Response } from "express"
import { badRequest, methodNotAllowed, requestEntityTooLarge, StatusError, success } from "../../apimachinery/status.ts"
import type { Resource } from "../../client/rest.ts"
import { quotaNames, type Tenant, type TenantQuota, type TenantAdmin } from "../../client/tenants.ts"
import type { RequestState } from "../filters/state.ts"
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

type AdminResponse = Response<unknown, { state: RequestState }>

/** Passes unknown paths and StatusErrors on. */
export function createAdminSurface(parts: AdminSurfaceParts): Express {
  const { tenants, limits } = parts
  const app = express()
  app.disable("x-powered-by")
  app.disable("etag")
  const refuse = (): never => {
    throw methodNotAllowed()
  }
  app
    .route("/polyplane/v1/tenants")
    .get((request, response: AdminResponse) => {
      if ("watch" in request.query) watchTenants(parts, response)
      else response.json({ items: tenants.list() })
    })
    .post(express.json({ limit: limits.maxBodyBytes, type: () => true }), async (request, response) => {
      response.status(201).json(await tenants.create(tenantOf(request.body)))
    })
    .all(refuse)
  app
    .route("/polyplane/v1/tenants/:name")
    .delete(async ({ params }, response) => {
      await tenants.delete(params.name)
      response.json(success())
    })
    .all(refuse)
  app
    .route("/polyplane/v1/tenants/:name/address")
    .get(async ({ params }, response) => {
      response.json(await tenants.address(params.name))
    })
    .all(refuse)
  app
    .route("/polyplane/v1/tenants/:name/kubeconfig")
    .get(async ({ params }, response) => {
      response.type("application/yaml").send(await tenants.kubeconfig(params.name))
    })
    .all(refuse)
  app
    .route("/polyplane/v1/tenants/:name/wake")
    .post(({ params }, response) => {
      tenants.wake(params.name)
      response.json(success())
    })
    .all(refuse)
  app
    .route("/polyplane/v1/faults")
    .get(async (_request, response) => {
      response.json({ items: await tenants.faults() })
    })
    .all(refuse)
  app
    .route("/polyplane/v1/watch")
    .get((request, response: AdminResponse) => watchResource(parts, request.query, response))
    .all(refuse)
  app.use(statusErrors)
  return app
}

/** Converts express' errors about bodies to StatusErrors. */
const statusErrors: ErrorRequestHandler = (error: Error & { type?: string }, _request, _response, next) => {
  if (error instanceof StatusError) next(error)
  else if (error.type === "entity.too.large") next(requestEntityTooLarge(error.message))
  else if (error.type === "entity.parse.failed") next(badRequest("the body is not JSON", { cause: error }))
  else next(error)
}

function watchTenants(parts: AdminSurfaceParts, response: AdminResponse): void {
  const stream = new LineStream(response, parts.limits.maxWatchBacklogBytes)
  const stop = parts.tenants.subscribe({
    added: (tenant) => stream.write(JSON.stringify({ type: "ADDED", tenant })),
    removed: (tenant) => stream.write(JSON.stringify({ type: "REMOVED", tenant })),
  })
  stream.write(`{"type":"SYNCED"}`)
  response.locals.state.whenDone(stop)
}

function watchResource(parts: AdminSurfaceParts, query: Query, response: AdminResponse): void {
  const resource: Resource = {
    group: query["group"] === undefined ? "" : required(query, "group"),
    version: required(query, "version"),
    resource: required(query, "resource"),
    namespaced: query["namespaced"] === "true",
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
      synced: send("SYNCED"),
      removed: send("REMOVED"),
      restarted: send("RESTARTED"),
      asleep: send("ASLEEP"),
    },
    response.locals.state.signal,
  )
}

type Query = Readonly<Record<string, unknown>>

function required(query: Query, name: string): string {
  const value = query[name]
  if (typeof value !== "string" || (value === "" && name !== "group")) throw badRequest(`the query must say ${name}`)
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
