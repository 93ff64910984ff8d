// The end of the filter chain: everything that a control plane serves after authentication and authorization. The table `documents`
// maps paths to documents; every other path is a resource, whose verb is a file in verbs/.

import { dictionary } from "../../apimachinery/dictionary.ts"
import type { ServerResponse } from "node:http"
import { printGroupVersion } from "../../apimachinery/object.ts"
import { badRequest, methodNotAllowed, noSuchPath } from "../../apimachinery/status.ts"
import { pageNotFound } from "../../apimachinery/text-errors.ts"
import type { Exchange } from "../registry/strategy.ts"
import type { RequestContext } from "../request/context.ts"
import { mayBeAggregated, serveAggregated } from "../aggregation/serve.ts"
import { serveDiscovery } from "./documents/discovery.ts"
import type { Endpoint, EndpointLimits } from "./endpoint.ts"
import { healthPaths, serveHealth, serveServiceLevels } from "./health.ts"
import { checkAccept, checkAcceptOf, checkBodyType, negotiate, type Negotiated } from "./negotiation.ts"
import { serveOpenAPI } from "./documents/openapi.ts"
import {
  checkConnection,
  checkNamespace,
  checkPlace,
  checkRoute,
  isOfAggregator,
  isServedAt,
  noSubresource,
  notAllowed,
  notServed,
  servesBuiltIn,
  unnamed,
  unnamedSubresource,
  warnOfVersion,
  watchPath,
  wholeResourceVerbs,
} from "./routes.ts"
import { sendBytes } from "./responses/body-writer.ts"
import { printed } from "./responses/print.ts"
import { answeringOf, refusedForm } from "./responses/respond.ts"
import { RunCache } from "./responses/run-cache.ts"
import { create } from "./verbs/create.ts"
import { deleteCollection } from "./verbs/delete-collection.ts"
import { remove } from "./verbs/delete.ts"
import { get } from "./verbs/get.ts"
import { list } from "./verbs/list.ts"
import { patchType } from "./verbs/patch-document.ts"
import { patch } from "./verbs/patch.ts"
import { update } from "./verbs/update.ts"
import { watch } from "./verbs/watch.ts"
import type { GatewayLimits } from "../options.ts"
import { versionInfo } from "./version.ts"
import { serveFlagz, serveStatusz, zPagePaths } from "./zpages.ts"

type APILimits = Pick<GatewayLimits, "maxBodyBytes" | "maxGatheredObjects" | "maxGatheredBytes">

export type APIHandler = (ctx: RequestContext, exchange: Exchange) => Promise<void>

const verbs: Readonly<Record<string, (ctx: RequestContext, endpoint: Endpoint) => Promise<void>>> = dictionary({
  get,
  list,
  watch,
  create,
  update,
  patch,
  delete: remove,
  deletecollection: deleteCollection,
})

type ServeDocument = (ctx: RequestContext, response: ServerResponse) => void | boolean | Promise<void | boolean>

/** First path segment → handler. A handler returns false for an unknown path. */
const documents: Readonly<Record<string, ServeDocument>> = dictionary({
  api: serveDiscovery,
  apis: serveDiscovery,
  openapi: serveOpenAPI,
  version: serveVersion,
  healthz: serveHealth,
  livez: serveHealth,
  readyz: serveHealth,
  metrics: serveServiceLevels,
  statusz: (ctx, response) => serveStatusz(ctx, response, paths(ctx)),
  flagz: serveFlagz,
  "": serveIndex,
  "index.html": serveIndex,
})

/** Documents that are part of the API support only GET; the others ignore the method. */
const readOnly: ReadonlySet<string> = new Set(["api", "apis", "version"])

/** Shared by all control planes. Throws a StatusError, synchronously or not, which the caller writes as a Status. */
export function createAPIHandler({ maxBodyBytes, maxGatheredObjects, maxGatheredBytes }: APILimits): APIHandler {
  const shared = { maxBodyBytes, maxGatheredObjects, maxGatheredBytes, runs: new RunCache() }
  const serve: APIHandler = (ctx, exchange) =>
    ctx.info.isResourceRequest ? serveResource(ctx, exchange, shared) : serveDocument(ctx, exchange)
  return (ctx, exchange) => {
    const { path } = ctx.info
    // Leading empty segments are never valid; between other segments they are unknown names.
    if (path.startsWith("//")) throw pageNotFound()
    if (!mayBeAggregated(path)) return serve(ctx, exchange)
    return serveAggregated(ctx, exchange).then((isServed) => (isServed ? undefined : serve(ctx, exchange)))
  }
}

async function serveDocument(ctx: RequestContext, { request, response }: Exchange): Promise<void> {
  const [, segment = "", group] = ctx.info.path.split("/")
  const serve = documents[segment]
  if (serve === undefined) throw pageNotFound()
  // An empty segment is not a group.
  if (segment === "apis" && group === "" && ctx.info.path !== "/apis/") throw pageNotFound()
  // Over HTTP/2 a method may be in lower case, which makes it another one.
  if (readOnly.has(segment) && request.method !== "GET") checkReadOnly(ctx, segment)
  if ((await serve(ctx, response)) === false) throw pageNotFound()
}

/**
 * Documents of built-in groups support only GET; versions that are not served support no method. Lists of groups and of a group's
 * versions are kube-aggregator's, which ignores the method.
 */
function checkReadOnly(ctx: RequestContext, segment: string): void {
  if (segment === "version") throw isVersionPath(ctx.info.path) ? methodNotAllowed() : noSuchPath()
  const [, , first = "", second = ""] = ctx.info.path.split("/")
  const [group, version] = segment === "api" ? ["", first] : [first, second]
  const isOfGroup = group === "" || isOfAggregator(ctx.info.path, group)
  if (segment === "apis" && (isOfGroup || !servesBuiltIn(ctx, group))) return
  const isThere =
    version === "" ||
    ctx.controlPlane.resources.definitions().some((one) => one.group === group && one.version === version)
  throw isThere ? methodNotAllowed() : noSuchPath()
}

type Shared = EndpointLimits & Pick<Endpoint, "runs">

function serveResource(ctx: RequestContext, exchange: Exchange, shared: Shared): Promise<void> {
  const { group, version, resource, namespace, name, verb } = ctx.info
  const registry = ctx.controlPlane.resources.registry({ group, version, resource })
  if (
    registry === undefined ||
    (group === "" && ctx.info.path.startsWith("/apis/")) ||
    !isServedAt(ctx, registry.definition)
  )
    throw notServed(ctx)
  const { definition } = registry
  checkPlace(ctx, definition)
  const isCustom = definition.customResource !== undefined
  if (isCustom) warnOfVersion(ctx, definition)
  const wanted = ctx.info.subresource
  const subresource = wanted === "" ? undefined : definition.subresources.find((one) => one.name === wanted)
  const hasNone = subresource === undefined || (!isCustom && watchPath.test(ctx.info.path))
  if (wanted !== "" && hasNone) throw noSubresource(definition, ctx.info.name)
  const handler = wanted === "" ? undefined : definition.subresourceHandlers?.[wanted]
  if (handler?.connect !== undefined) {
    const { produces } = handler
    checkConnection(ctx, exchange, subresource)
    if (produces !== undefined) checkAccept(ctx.headers["accept"], false, produces)
    // Logs are read, not connected to.
    if (produces === undefined && ctx.query.has("dryRun")) throw badRequest("dryRun is not supported")
    if (name === "") throw unnamed()
    const refused = produces === undefined ? undefined : refusedForm(negotiate(ctx, "unlisted"))
    checkNamespace(ctx, definition)
    return handler.connect(ctx, registry, namespace, name, refused === undefined ? exchange : { ...exchange, refused })
  }
  // There are no paths below a subresource except those of a proxy; for custom resources upstream does not check.
  if (ctx.info.rest !== "" && !isCustom) throw noSuchPath()
  if (name === "" && subresource !== undefined && !isCustom) {
    throw unnamedSubresource(ctx, exchange, subresource)
  }
  const serve = verbs[verb]
  const allowed =
    subresource === undefined ? definition.verbs.includes(verb) : !isCustom || !wholeResourceVerbs.has(verb)
  if (serve === undefined || !allowed) throw notAllowed(ctx, definition)
  if (name === "" && isCustom && wanted !== "") throw unnamed()
  if (!isCustom) {
    checkRoute(ctx, exchange, definition, subresource)
    warnOfVersion(ctx, definition)
  } else if (verb === "patch") patchType(ctx.headers["content-type"], definition)
  checkNamespace(ctx, definition)
  negotiate(ctx, answeringOf(definition, handler, ctx.info.subresource))
  if (writesOfOne.has(verb)) ctx.limitWrite?.()
  return serve(ctx, { registry, definition, subresource, handler, exchange, response: exchange.response, ...shared })
}

/** As upstream, the deletion of a collection has as much time as a read. */
const writesOfOne: ReadonlySet<string> = new Set(["create", "update", "patch", "delete"])

/** Documents about the server are indented for human readers. */
const indentedJSON: Negotiated = {
  format: "json",
  as: "object",
  metaVersion: "",
  pretty: true,
  contentType: "application/json",
}

/** Slashes at the end are ignored. */
function isVersionPath(path: string): boolean {
  return (
    path.startsWith("/version") &&
    path
      .slice("/version".length)
      .split("/")
      .every((part) => part === "")
  )
}

function serveVersion(ctx: RequestContext, response: ServerResponse): boolean {
  if (!isVersionPath(ctx.info.path)) throw noSuchPath()
  checkBodyType(ctx.headers["content-type"], [indentedJSON.contentType])
  checkAcceptOf(ctx.headers["accept"], [indentedJSON.contentType])
  sendBytes(ctx, response, 200, indentedJSON.contentType, [printed(versionInfo, indentedJSON)])
  return true
}

function serveIndex(ctx: RequestContext, response: ServerResponse): boolean {
  if (ctx.info.path !== "/" && ctx.info.path !== "/index.html") return false
  sendBytes(ctx, response, 200, indentedJSON.contentType, [printed({ paths: paths(ctx) }, indentedJSON)])
  return true
}

const fixedPaths: readonly string[] = [
  "/.well-known/openid-configuration",
  "/api",
  "/apis",
  "/apis/",
  "/metrics",
  "/openapi/v2",
  "/openapi/v3",
  "/openapi/v3/",
  "/openid/v1/jwks",
  "/version",
]

function paths(ctx: RequestContext): string[] {
  const served = new Set([...fixedPaths, ...zPagePaths, ...healthPaths()])
  for (const { group, version } of ctx.controlPlane.resources.definitions()) {
    served.add(group === "" ? `/api/${version}` : `/apis/${printGroupVersion({ group, version })}`)
    if (group !== "") served.add(`/apis/${group}`)
  }
  return [...served].sort()
}
