// What the syncer, the controllers and the operator need when they run in processes of their own: the tenants, and one watch
// of a resource over all of them. client/remote-tenants.ts is the other side; both change together.
//
//   GET    /polyplane/v1/tenants                   {"items": [Tenant]}
//   GET    /polyplane/v1/tenants?watch=true        lines of TenantLine
//   POST   /polyplane/v1/tenants                   Tenant without uid → Tenant
//   DELETE /polyplane/v1/tenants/<name>            Status, when nothing is left
//   GET    /polyplane/v1/tenants/<name>/kubeconfig YAML
//   GET    /polyplane/v1/watch?group=&version=&resource=&namespaced=   lines of WatchLine

import type { IncomingMessage, ServerResponse } from "node:http"
import { badRequest, methodNotAllowed, noSuchPath, requestEntityTooLarge, success } from "../../apimachinery/status.ts"
import type { Resource } from "../../client/rest.ts"
import type { Tenant, TenantAdmin } from "../../client/tenants.ts"
import type { TenantValueHandler } from "../tenancy/subscriptions.ts"
import { LineStream } from "./line-stream.ts"

export interface AdminSurfaceParts {
  tenants: TenantAdmin & { watchValues(of: Resource, handler: TenantValueHandler, signal: AbortSignal): void }
  limits: { maxBodyBytes: number; maxWatchBacklogBytes: number }
}

export interface AdminRequest {
  request: IncomingMessage
  response: ServerResponse
  /** Below /polyplane/. */
  path: string
  query: URLSearchParams
  signal: AbortSignal
}

/** Throws StatusError. */
export type AdminSurface = (request: AdminRequest) => Promise<void>

export function createAdminSurface(parts: AdminSurfaceParts): AdminSurface {
  return async (exchange) => {
    const { request, response, path, query } = exchange
    const [version, kind, name, view, ...rest] = path.split("/")
    if (version !== "v1" || rest.length > 0) throw noSuchPath()
    const { method = "" } = request
    if (kind === "watch" && name === undefined) {
      expectMethod(method, "GET")
      watchResource(parts, exchange)
    } else if (kind !== "tenants") throw noSuchPath()
    else if (name === undefined) {
      if (method === "POST") sendJson(response, 201, await parts.tenants.create(await readTenant(parts, request)))
      else if (query.has("watch")) watchTenants(parts, exchange)
      else sendJson(response, 200, { items: parts.tenants.list() })
    } else if (view === undefined) {
      expectMethod(method, "DELETE")
      await parts.tenants.delete(decodeURIComponent(name))
      sendJson(response, 200, success())
    } else if (view === "address") {
      expectMethod(method, "GET")
      sendJson(response, 200, await parts.tenants.address(decodeURIComponent(name)))
    } else if (view === "wake") {
      expectMethod(method, "POST")
      parts.tenants.wake(decodeURIComponent(name))
      sendJson(response, 200, success())
    } else if (view === "kubeconfig") {
      expectMethod(method, "GET")
      send(response, 200, "application/yaml", await parts.tenants.kubeconfig(decodeURIComponent(name)))
    } else throw noSuchPath()
  }
}

function expectMethod(method: string, wanted: string): void {
  if (method !== wanted) throw methodNotAllowed()
}

function watchTenants(parts: AdminSurfaceParts, { response, signal }: AdminRequest): void {
  const stream = new LineStream(response, parts.limits.maxWatchBacklogBytes)
  const stop = parts.tenants.subscribe({
    added: (tenant) => stream.write(JSON.stringify({ type: "ADDED", tenant })),
    removed: (tenant) => stream.write(JSON.stringify({ type: "REMOVED", tenant })),
  })
  stream.write(`{"type":"SYNCED"}`)
  signal.addEventListener("abort", stop, { once: true })
}

function watchResource(parts: AdminSurfaceParts, { response, query, signal }: AdminRequest): void {
  const resource: Resource = {
    group: query.get("group") ?? "",
    version: required(query, "version"),
    resource: required(query, "resource"),
    namespaced: query.get("namespaced") === "true",
  }
  const stream = new LineStream(response, parts.limits.maxWatchBacklogBytes)
  const tell = (type: string) => (tenant: string) =>
    stream.write(`{"type":"${type}","tenant":${JSON.stringify(tenant)}}`)
  parts.tenants.watchValues(
    resource,
    {
      // The object's bytes are on the wire as they were stored: nothing is parsed.
      event: (tenant, type, value) =>
        stream.write(`{"type":"${type}","tenant":${JSON.stringify(tenant)},"object":`, value.bytes(), "}"),
      synced: tell("SYNCED"),
      removed: tell("REMOVED"),
      restarted: tell("RESTARTED"),
      asleep: tell("ASLEEP"),
    },
    signal,
  )
}

function required(query: URLSearchParams, name: string): string {
  const value = query.get(name)
  if (value === null || value === "") throw badRequest(`the query must say ${name}`)
  return value
}

async function readTenant({ limits }: AdminSurfaceParts, request: IncomingMessage): Promise<Omit<Tenant, "uid">> {
  const value = await readJson(request, limits.maxBodyBytes)
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
  }
}

async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw requestEntityTooLarge(`the body exceeds ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch (error) {
    throw badRequest("the body is not JSON", { cause: error })
  }
}

function sendJson(response: ServerResponse, code: number, value: unknown): void {
  send(response, code, "application/json", JSON.stringify(value) + "\n")
}

function send(response: ServerResponse, code: number, type: string, text: string): void {
  response.statusCode = code
  response.setHeader("Content-Type", type)
  response.end(text)
}
