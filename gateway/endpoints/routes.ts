// Whether a request for a resource matches a route of upstream's API server, and what those are told that match none. Upstream's routes
// are patterns: a name and a namespace may be empty.

import { dictionary } from "../../apimachinery/dictionary.ts"
import type { SubresourceFacts } from "../../apimachinery/schema/facts.ts"
import {
  badRequest,
  methodNotAllowed,
  methodNotSupported,
  noSuchPath,
  notFound,
  type StatusError,
} from "../../apimachinery/status.ts"
import { pageNotFound } from "../../apimachinery/text-errors.ts"
import { apiServices } from "../../client/api-services.ts"
import type { ResourceDefinition } from "../registry/rest.ts"
import type { Exchange } from "../registry/strategy.ts"
import type { RequestContext } from "../request/context.ts"
import { checkAccept } from "./negotiation.ts"
import { checkPatchRoute, patchType } from "./verbs/patch-document.ts"

/** Verbs that custom resources reject for all subresources, before looking at the subresource. */
export const wholeResourceVerbs: ReadonlySet<string> = new Set([
  "list",
  "watch",
  "create",
  "delete",
  "deletecollection",
])

/** Custom resources are one route upstream and always warn; built-in kinds warn only if the request matches a route. */
export function warnOfVersion(ctx: RequestContext, { warning }: ResourceDefinition): void {
  if (warning !== undefined) ctx.warn(warning)
}

/** For an unknown resource of a built-in group the error is a Status, for an unknown group "page not found". */
export function notServed(ctx: RequestContext): StatusError {
  const { group, path } = ctx.info
  const isBuiltIn = path.startsWith("/api/") || (group !== "" && servesBuiltIn(ctx, group))
  return isBuiltIn ? noSuchPath() : pageNotFound()
}

export function servesBuiltIn(ctx: RequestContext, group: string): boolean {
  return ctx.controlPlane.resources
    .definitions()
    .some((definition) => definition.group === group && definition.customResource === undefined)
}

/**
 * The versions of a group are listed by kube-aggregator, which looks at no method and type; those of its own group, and with more slashes
 * at the end, have a route.
 */
export function isOfAggregator(path: string, group: string): boolean {
  return group !== apiServices.group && (path === `/apis/${group}` || path === `/apis/${group}/`)
}

/** `name`: of the object. */
export function noSubresource(definition: ResourceDefinition, name: string): StatusError {
  return definition.customResource === undefined ? noSuchPath() : notFound(definition, name)
}

/** The deprecated path of a watch, which exists only for kinds that support watch, and for no subresource. */
export const watchPath = /^\/(api|apis\/[^/]+)\/[^/]+\/watch\//

export function notAllowed(ctx: RequestContext, definition: ResourceDefinition): StatusError {
  const { verb, subresource } = ctx.info
  if (definition.customResource !== undefined) {
    const isNamed = verb === "proxy" || (subresource !== "" && wholeResourceVerbs.has(verb))
    return methodNotSupported(definition, isNamed ? verb : "")
  }
  if (isRoute(ctx, definition) && verb === "watch" && definition.verbs.includes("list")) {
    warnOfVersion(ctx, definition) // the path is the route of the list
    return methodNotSupported(definition, verb)
  }
  return notRouted(ctx, definition)
}

/** For a method that the path of a built-in resource does not have. */
function notRouted(ctx: RequestContext, definition: ResourceDefinition): StatusError {
  return isRoute(ctx, definition) ? methodNotAllowed() : noSuchPath()
}

const ofObject: ReadonlySet<string> = new Set(["get", "update", "patch", "delete"])

/** Whether there is a route for the path of a built-in resource, for some method. */
function isRoute({ info }: RequestContext, definition: ResourceDefinition): boolean {
  const { verb, name, namespace, path, rest } = info
  const { verbs, namespaced } = definition
  // Something stands where an escaped slash has left the name or the subresource empty.
  if (rest !== "") return false
  const isWatch = watchPath.test(path)
  if (verb === "proxy" || (isWatch && !verbs.includes("watch"))) return false
  // A field selector may name the object of a list, too.
  const isOfObject = name !== "" && (isWatch || (verb !== "list" && verb !== "watch"))
  // The path of all namespaces exists only for resources that can be listed.
  if (namespaced && namespace === "" && !isInEmptyNamespace(path)) return !isOfObject && verbs.includes("list")
  return !isOfObject || isWatch || verbs.some((each) => ofObject.has(each))
}

/** Connect subresources have routes for the verbs in discovery; if all methods are allowed, also for methods without a verb. */
export function checkConnection(ctx: RequestContext, { request }: Exchange, subresource?: SubresourceFacts): void {
  const { method } = request
  const withoutVerb = method === "HEAD" || method === "OPTIONS"
  if (withoutVerb ? !subresource?.verbs.includes("update") : !isRouted(ctx, subresource)) throw methodNotAllowed()
}

/** Without a name, a request is like one for a collection; the routes of subresources match it nevertheless. */
function isRouted({ info }: RequestContext, subresource?: SubresourceFacts): boolean {
  const verb = info.name === "" ? (verbsOfNamed[info.verb] ?? info.verb) : info.verb
  return subresource?.verbs.includes(verb) === true
}

const verbsOfNamed: Readonly<Record<string, string>> = dictionary({
  list: "get",
  watch: "get",
  deletecollection: "delete",
})

/** For a subresource that is not a connection, of an object without a name. */
export function unnamedSubresource(
  ctx: RequestContext,
  { request }: Exchange,
  subresource: SubresourceFacts,
): StatusError {
  return request.method !== "HEAD" && isRouted(ctx, subresource) ? unnamed() : methodNotAllowed()
}

export const unnamed = (): StatusError => badRequest("name must be provided")

const ofCollection: ReadonlySet<string> = new Set(["list", "watch", "create", "deletecollection"])

/** A path with an empty namespace is that of the collection in all namespaces, and of no object. */
export function checkNamespace(
  { info: { verb, namespace, subresource } }: RequestContext,
  { namespaced }: ResourceDefinition,
): void {
  const isOfCollection = subresource === "" && ofCollection.has(verb)
  if (namespaced && namespace === "" && !isOfCollection) throw namespaceRequired()
}

export const namespaceRequired = (): StatusError => badRequest("Namespace parameter required.")

const inNamespace = /^\/(?:api|apis\/[^/]+)\/[^/]+\/namespaces\/([^/]*)\/(?!(?:status|finalize)(?:\/|$))[^/]/

/** A cluster-scoped resource has no path in a namespace; one that is built in not even in an empty one. */
export function isServedAt(
  { info }: RequestContext,
  { namespaced, resource, customResource }: ResourceDefinition,
): boolean {
  if (namespaced) return true
  if (customResource !== undefined) return info.namespace === ""
  return (info.namespace === "" || resource === "namespaces") && !inNamespace.test(info.path)
}

const isInEmptyNamespace = (path: string): boolean => inNamespace.exec(path)?.[1] === ""

/** Requests for which upstream's router has no route: HEAD, an unsupported response format, an unsupported patch type. */
export function checkRoute(
  ctx: RequestContext,
  { request }: Exchange,
  definition: ResourceDefinition,
  subresource?: SubresourceFacts,
): void {
  const { verb } = ctx.info
  if (request.method === "HEAD" || (verb === "watch" && request.method !== "GET")) throw methodNotAllowed()
  if (subresource !== undefined && !subresource.verbs.includes(verb)) throw methodNotAllowed()
  if (verb === "patch") checkPatchRoute(ctx.headers["content-type"])
  checkAccept(ctx.headers["accept"], verb === "list" || verb === "watch")
  if (verb === "patch") patchType(ctx.headers["content-type"], definition)
}

/** Objects of a namespaced resource are accessed through their namespace; across namespaces they can only be read. */
export function checkPlace(ctx: RequestContext, definition: ResourceDefinition): void {
  const { verb, namespace, name, subresource } = ctx.info
  const isCustom = definition.customResource !== undefined
  const isNowhere = definition.namespaced && namespace === "" && (isCustom || !isInEmptyNamespace(ctx.info.path))
  if (isNowhere && verb !== "list" && verb !== "watch") throw isCustom ? notServed(ctx) : notRouted(ctx, definition)
  if (isNowhere && !isCustom && name !== "" && !isRoute(ctx, definition)) throw noSuchPath()
  if (name === "" && subresource === "" && !ofCollection.has(verb)) {
    throw isCustom ? refusedWithoutName(ctx, definition) : notRouted(ctx, definition)
  }
  // Objects of custom resources may also be created below the path of one, whose name is ignored.
  const isRefused = verb === "deletecollection" || (verb === "create" && !isCustom)
  if (name !== "" && subresource === "" && isRefused) {
    throw isCustom ? methodNotSupported(definition, verb) : notRouted(ctx, definition)
  }
}

function refusedWithoutName({ info, headers }: RequestContext, definition: ResourceDefinition): StatusError {
  if (info.verb === "") return methodNotSupported(definition, "")
  if (info.verb === "patch") patchType(headers["content-type"], definition)
  return unnamed()
}
