// The chain's end: everything a control plane answers after the filters have said who asks and that he may. Which paths there
// are is the table `documents`; every other path is a resource, and its verb is a file in verbs/.

import type { ServerResponse } from "node:http"
import { printGroupVersion } from "../../apimachinery/object.ts"
import { methodNotAllowed, noSuchPath } from "../../apimachinery/status.ts"
import type { Exchange } from "../registry/strategy.ts"
import type { ResourceDefinition } from "../registry/rest.ts"
import type { RequestContext } from "../request/context.ts"
import { serveDiscovery } from "./discovery.ts"
import type { Endpoint } from "./endpoint.ts"
import { serveHealth } from "./health.ts"
import { negotiate } from "./negotiation.ts"
import { serveOpenAPI } from "./openapi.ts"
import { sendJSON } from "./respond.ts"
import { create } from "./verbs/create.ts"
import { deleteCollection } from "./verbs/delete-collection.ts"
import { remove } from "./verbs/delete.ts"
import { get } from "./verbs/get.ts"
import { list } from "./verbs/list.ts"
import { patch } from "./verbs/patch.ts"
import { update } from "./verbs/update.ts"
import { watch } from "./verbs/watch.ts"
import { versionInfo } from "./version.ts"

export interface APIHandlerOptions {
  /** Body bytes of a request; beyond: 413. Default 3 MiB, as kube-apiserver. */
  maxBodyBytes?: number
}

export type APIHandler = (ctx: RequestContext, exchange: Exchange) => Promise<void>

const defaultMaxBodyBytes = 3 * 1024 * 1024

const verbs: Readonly<Record<string, (ctx: RequestContext, endpoint: Endpoint) => Promise<void>>> = {
  get,
  list,
  watch,
  create,
  update,
  patch,
  delete: remove,
  deletecollection: deleteCollection,
}

/** First path segment → what answers. A handler that answers false does not know the path. */
const documents: Readonly<
  Record<string, (ctx: RequestContext, response: ServerResponse) => void | boolean | Promise<void | boolean>>
> = {
  api: serveDiscovery,
  apis: serveDiscovery,
  openapi: serveOpenAPI,
  version: (ctx, response) => sendJSON(ctx, response, 200, versionInfo),
  healthz: serveHealth,
  livez: serveHealth,
  readyz: serveHealth,
  "": (ctx, response) => sendJSON(ctx, response, 200, { paths: paths(ctx) }),
}

/** Shared by all control planes. Throws StatusError; who calls writes the Status body. */
export function createAPIHandler({ maxBodyBytes = defaultMaxBodyBytes }: APIHandlerOptions = {}): APIHandler {
  return async (ctx, exchange) => {
    if (!ctx.info.isResourceRequest) {
      if (ctx.info.verb !== "get" && ctx.info.verb !== "head") throw methodNotAllowed()
      const segment = ctx.info.path.split("/")[1] ?? ""
      const serve = Object.hasOwn(documents, segment) ? documents[segment] : undefined
      if (serve === undefined || (await serve(ctx, exchange.response)) === false) throw noSuchPath()
      return
    }
    await serveResource(ctx, exchange, maxBodyBytes)
  }
}

async function serveResource(ctx: RequestContext, exchange: Exchange, maxBodyBytes: number): Promise<void> {
  const { group, version, resource, namespace, name, verb } = ctx.info
  const registry = ctx.controlPlane.resources.registry({ group, version, resource })
  if (registry === undefined || (namespace !== "" && !registry.definition.namespaced && resource !== "namespaces"))
    throw noSuchPath()
  const { definition } = registry
  checkPlace(ctx, definition)
  if (definition.warning !== undefined) ctx.warn(definition.warning)
  negotiate(ctx.headers["accept"]) // what cannot be answered is not begun
  const subresource = definition.subresources.find((candidate) => candidate.name === ctx.info.subresource)
  if (ctx.info.subresource !== "" && subresource === undefined) throw noSuchPath()
  const handler = ctx.info.subresource === "" ? undefined : definition.subresourceHandlers?.[ctx.info.subresource]
  if (handler?.connect !== undefined) {
    await handler.connect(ctx, registry, namespace, name, exchange)
    return
  }
  const serve = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
  const allowed = subresource === undefined ? definition.verbs.includes(verb) : true
  if (serve === undefined || !allowed) throw methodNotAllowed()
  await serve(ctx, { registry, definition, subresource, handler, exchange, response: exchange.response, maxBodyBytes })
}

/** Objects of a namespaced resource are reached through their namespace; all of them together are only read. */
function checkPlace({ info }: RequestContext, { namespaced }: ResourceDefinition): void {
  const { verb, namespace, name, subresource } = info
  const toCollection = verb === "list" || verb === "watch" || verb === "create" || verb === "deletecollection"
  if (namespaced && namespace === "") {
    if (name !== "") throw noSuchPath()
    if (verb !== "list" && verb !== "watch") throw methodNotAllowed()
  }
  if (name === "" && !toCollection) throw methodNotAllowed()
  if (name !== "" && subresource === "" && (verb === "create" || verb === "deletecollection")) throw methodNotAllowed()
}

function paths(ctx: RequestContext): string[] {
  const served = new Set([
    "/api",
    "/apis",
    "/healthz",
    "/livez",
    "/metrics",
    "/openapi/v2",
    "/openapi/v3",
    "/readyz",
    "/version",
  ])
  served.add("/.well-known/openid-configuration").add("/openid/v1/jwks")
  for (const { group, version } of ctx.controlPlane.resources.definitions()) {
    served.add(group === "" ? `/api/${version}` : `/apis/${printGroupVersion({ group, version })}`)
    if (group !== "") served.add(`/apis/${group}`)
  }
  return [...served].sort()
}
