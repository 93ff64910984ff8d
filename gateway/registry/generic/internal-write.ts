// Writes by the server itself in the course of a request: a pod's binding, a quota's usage, writes for deletion. They pass through
// the whole flow of the registry, most of them except admission, which has already handled the request itself.

import type { GroupVersionResource } from "../../../apimachinery/object.ts"
import { noSuchPath } from "../../../apimachinery/status.ts"
import type { RequestContext } from "../../request/context.ts"
import type { Verb } from "../../request/request-info.ts"
import type { User } from "../../request/user.ts"
import type { AdmitFunctions, Registry, WriteOptions } from "../rest.ts"

const nothing = async (): Promise<void> => undefined

export const withoutAdmission: AdmitFunctions = { mutate: nothing, validate: nothing }

/** The manager of what the server itself writes, as upstream. */
export const serverManager = "kube-apiserver"

export function internalWrite(subresource = "", dryRun = false): WriteOptions {
  return { dryRun, fieldManager: serverManager, subresource }
}

/** As whom upstream writes what it does not write for the caller of a request. */
export const serverUser: User = {
  name: "system:apiserver",
  groups: ["system:authenticated", "system:masters"],
  extra: {},
}

/**
 * A context with the same control plane and lifetime for another object, whose request info strategies see. `user`: as whom, by a request
 * of its own, without the options of the caller's; default: the caller.
 */
export function onBehalf(
  ctx: RequestContext,
  target: GroupVersionResource & { namespace: string; name: string; subresource?: string; verb?: Verb },
  user?: User,
): RequestContext {
  const { group, version, resource, namespace, name, subresource = "", verb = "update" } = target
  return new BehalfContext(ctx, user, { ...ctx.info, group, version, resource, namespace, name, subresource, verb })
}

class BehalfContext implements RequestContext {
  readonly controlPlane: RequestContext["controlPlane"]
  readonly user: RequestContext["user"]
  readonly query: RequestContext["query"]
  readonly headers: RequestContext["headers"]
  readonly info: RequestContext["info"]
  declare readonly turn?: () => Promise<void> | undefined
  declare readonly pause?: () => Promise<void> | undefined
  readonly #ctx: RequestContext

  constructor(ctx: RequestContext, user: User | undefined, info: RequestContext["info"]) {
    this.controlPlane = ctx.controlPlane
    this.user = user ?? ctx.user
    this.query = user === undefined ? ctx.query : new URLSearchParams()
    this.headers = ctx.headers
    this.info = info
    if (ctx.turn !== undefined) this.turn = ctx.turn
    if (ctx.pause !== undefined) this.pause = ctx.pause
    this.#ctx = ctx
  }

  /** Lazy, since most users do not need it. */
  get signal(): AbortSignal {
    return this.#ctx.signal
  }

  get isOver(): boolean {
    return this.#ctx.isOver === true
  }

  warn(message: string): void {
    this.#ctx.warn(message)
  }

  annotate(key: string, value: string): void {
    this.#ctx.annotate?.(key, value)
  }
}

/** The registry of a resource that every control plane serves. */
export function builtIn(ctx: RequestContext, resource: GroupVersionResource): Registry {
  const registry = ctx.controlPlane.resources.registry(resource)
  if (registry === undefined) throw noSuchPath()
  return registry
}
