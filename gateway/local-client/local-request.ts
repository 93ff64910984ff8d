// The target and the user of a call in process, which has no request.

import { methodNotAllowed, noSuchPath } from "../../apimachinery/status.ts"
import type { SubresourceFacts } from "../../apimachinery/schema/facts.ts"
import type { Resource } from "../../client/rest.ts"
import { expectedOf, type Expected } from "../endpoints/expected.ts"
import { subresourceBody } from "../endpoints/verbs/create.ts"
import type { Registry, ResourceDefinition } from "../registry/rest.ts"
import type { SubresourceHandler } from "../registry/strategy.ts"
import type { RequestContext } from "../request/context.ts"
import type { Verb } from "../request/request-info.ts"
import type { User } from "../request/user.ts"
import type { ControlPlane } from "../control-plane/control-plane.ts"

/**
 * The writes of all control planes' own parts together go on in one turn of the event loop until it has lasted this long. They are many
 * and mostly short: a break between any two steps of them would cost a tenth of the controllers' processor time.
 */
const stretchMs = 5

const reads: ReadonlySet<Verb> = new Set(["get", "list", "watch"])

export const neverAborted = new AbortController().signal

export interface Target {
  registry: Registry
  definition: ResourceDefinition
  subresource: SubresourceFacts | undefined
  /** Undefined for objects themselves and their status. */
  handler: SubresourceHandler | undefined
  expected: Expected
}

/** Throws the error that a request for the target would return. */
export function targetOf({ resources }: ControlPlane, resource: Resource, verb: Verb, name = ""): Target {
  const registry = resources.registry(resource)
  if (registry === undefined) throw noSuchPath()
  const { definition } = registry
  const subresource = name === "" ? undefined : definition.subresources.find((candidate) => candidate.name === name)
  if (name !== "" && subresource === undefined) throw noSuchPath()
  if (!(subresource ?? definition).verbs.includes(verb)) throw methodNotAllowed()
  const handler = definition.subresourceHandlers?.[name]
  const expected = handler === undefined ? expectedOf(definition) : subresourceBody({ subresource, definition })
  return { registry, definition, subresource, handler, expected }
}

/** The user of the calls of one client. Its writes take turns together. */
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
  { group, version, resource }: Resource,
  verb: Verb,
  { namespace = "", name = "", subresource = "", signal = neverAborted }: Names,
): RequestContext {
  const { controlPlane, user } = caller
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`
  const parts = [namespace && `namespaces/${namespace}`, resource, name, subresource].filter((part) => part !== "")
  const path = [root, ...parts].join("/")
  return {
    controlPlane,
    info: { isResourceRequest: true, verb, path, group, version, namespace, resource, subresource, name, rest: "" },
    user,
    query: new URLSearchParams(),
    headers: {},
    signal,
    warn: () => undefined, // nobody reads it
    ...(reads.has(verb) ? {} : { pause: () => controlPlane.turns.pause(caller, stretchMs) }),
  }
}
