// What a request consists of, for a call in process, which has none: its target and context, and its body and options as the registries
// take them.

import { copyJson } from "../../apimachinery/copy.ts"
import type { Json, KubeObject } from "../../apimachinery/object.ts"
import { isLarge } from "../../apimachinery/schema/large-values.ts"
import { methodNotAllowed } from "../../apimachinery/status.ts"
import type { SubresourceFacts } from "../../apimachinery/schema/facts.ts"
import { inSteps } from "../../apimachinery/steps.ts"
import { resourcePath } from "../../client/http/paths.ts"
import type { DeleteOptions, Resource, WriteOptions } from "../../client/rest.ts"
import { admitFor } from "../admission/admit.ts"
import { decodeValue, decodingValue } from "../endpoints/body.ts"
import { agreeOnNamespace } from "../registry/generic/metadata.ts"
import { expectedOf, type Expected } from "../endpoints/expected.ts"
import { noSubresource } from "../endpoints/routes.ts"
import { subresourceBody } from "../endpoints/verbs/create.ts"
import type { DeleteRequest, Registry, ResourceDefinition } from "../registry/rest.ts"
import type { SubresourceHandler } from "../registry/strategy.ts"
import type { RequestContext } from "../request/context.ts"
import type { Verb } from "../request/request-info.ts"
import type { User } from "../request/user.ts"
import type { ControlPlane } from "../control-plane/control-plane.ts"

/**
 * The work of all control planes' own parts together, their reconciles and writes, goes on in one turn of the event loop until it has lasted
 * this long. It is much and mostly short: a break between any two steps would cost a tenth of the controllers' processor time.
 */
const stretchMs = 5

/** Its own parts take turns together. */
export const pauseOwnParts = (controlPlane: Pick<ControlPlane, "turns">): Promise<void> | undefined =>
  controlPlane.turns.pause(controlPlane, stretchMs)

const reads: ReadonlySet<Verb> = new Set(["get", "list", "watch"])

const fieldManager = "polyplane"

export const neverAborted = new AbortController().signal

export interface Target {
  registry: Registry
  definition: ResourceDefinition
  subresource: SubresourceFacts | undefined
  /** Undefined for objects themselves and their status. */
  handler: SubresourceHandler | undefined
  expected: Expected
}

/** Throws the error that a request for the target would return. `wanted`: a subresource; `name`: of the object. */
export function targetOf(registry: Registry, verb: Verb, wanted = "", name = ""): Target {
  const { definition } = registry
  const subresource = wanted === "" ? undefined : definition.subresources.find((candidate) => candidate.name === wanted)
  if (wanted !== "" && subresource === undefined) throw noSubresource(definition, name)
  if (!(subresource ?? definition).verbs.includes(verb)) throw methodNotAllowed()
  const handler = definition.subresourceHandlers?.[wanted]
  const expected =
    handler === undefined ? expectedOf(definition) : subresourceBody({ subresource, definition, handler })
  return { registry, definition, subresource, handler, expected }
}

/** The user of the calls of one client. */
export interface Caller {
  controlPlane: ControlPlane
  user: User
}

interface Names {
  namespace?: string | undefined
  name?: string
  subresource?: string | undefined
  signal?: AbortSignal
}

export function contextOf(
  caller: Caller,
  target: Resource,
  verb: Verb,
  { namespace = "", name = "", subresource = "", signal = neverAborted }: Names,
): RequestContext {
  const { controlPlane, user } = caller
  const { group, version, resource } = target
  const path = resourcePath(target, namespace, name || undefined, subresource || undefined)
  return {
    controlPlane,
    info: { isResourceRequest: true, verb, path, group, version, namespace, resource, subresource, name, rest: "" },
    user,
    query: new URLSearchParams(),
    headers: {},
    signal,
    warn: () => undefined, // nobody reads it
    ...(reads.has(verb) ? {} : { pause: () => pauseOwnParts(controlPlane) }),
  }
}

/** A copy, decoded as a request body would be, if it is large in steps; the caller's object is not modified. */
export function decoded(
  ctx: RequestContext,
  object: KubeObject,
  expected: Expected,
  namespace: string,
): KubeObject | Promise<KubeObject> {
  const copy = copyOf(object)
  if (!isLarge(copy)) return decodedAtOnce(ctx, copy, expected, namespace)
  return decodedInSteps(ctx, copy, expected, namespace)
}

function copyOf(object: KubeObject): Json {
  // Managed fields are the server's: callers return those that they have read.
  const { managedFields: _, ...metadata } = object.metadata
  return copyJson({ ...object, metadata }) as unknown as Json
}

function decodedAtOnce(ctx: RequestContext, copy: Json, expected: Expected, namespace: string): KubeObject {
  const object = decodeValue(ctx, copy, expected, "Ignore")
  agreeOnNamespace(object, namespace)
  return object
}

async function decodedInSteps(
  ctx: RequestContext,
  copy: Json,
  expected: Expected,
  namespace: string,
): Promise<KubeObject> {
  const object = await inSteps(decodingValue(ctx, copy, expected, "Ignore", { isLong: true }), ctx.pause)
  agreeOnNamespace(object, namespace)
  return object
}

/** What a write of a status may change, and what says of which kind the rest is. */
const written: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata", "status"])

/**
 * The same for a whole object or status that replaces the current one. What a write of a status does not change anyway, and is the current
 * object's own, is shared: it need neither be copied nor decoded, and is not compared part by part.
 */
export function decodedBeside(
  ctx: RequestContext,
  object: KubeObject,
  current: KubeObject | undefined,
  expected: Expected,
  namespace: string,
): KubeObject | Promise<KubeObject> {
  const isOfStatus = ctx.info.subresource === "status" && expected.schema.custom !== true
  const isShared = (key: string): boolean => !written.has(key) && object[key] === current?.[key]
  const shared = isOfStatus ? Object.keys(object).filter(isShared) : []
  if (current === undefined || shared.length === 0) return decoded(ctx, object, expected, namespace)
  const own = { ...object }
  for (const key of shared) delete own[key]
  const copy = decodedAtOnce(ctx, copyOf(own), expected, namespace)
  const whole: KubeObject = { apiVersion: copy.apiVersion, kind: copy.kind, metadata: copy.metadata }
  // Decoding adds what is left out, such as the phase of a namespace.
  for (const key of Object.keys({ ...object, ...copy })) whole[key] = shared.includes(key) ? current[key] : copy[key]
  return whole
}

export function admitOf(
  ctx: RequestContext,
  definition: ResourceDefinition,
  operation: "CREATE" | "UPDATE" | "DELETE",
  { dryRun = false }: WriteOptions,
): ReturnType<typeof admitFor> {
  const { subresource, namespace, name } = ctx.info
  return admitFor(ctx, definition, { operation, subresource, namespace, name, dryRun })
}

export function writeOptionsOf({
  subresource = "",
  dryRun = false,
  fieldManager: manager = fieldManager,
}: WriteOptions) {
  return { subresource, dryRun, fieldManager: manager }
}

export function deleteRequestOf({ uid, resourceVersion, ...rest }: DeleteOptions): DeleteRequest {
  const preconditions = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  }
  return { dryRun: false, ...rest, ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }) }
}
