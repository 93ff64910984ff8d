// Writes the server makes by itself in the course of a request: a pod's binding, a quota's usage, what deletion needs.
// They pass the registry's whole flow but no admission, which has had its say on the request itself.

import type { GroupVersionResource } from "../../apimachinery/object.ts"
import { noSuchPath } from "../../apimachinery/status.ts"
import type { RequestContext } from "../request/context.ts"
import type { Verb } from "../request/request-info.ts"
import type { AdmitFunctions, Registry, WriteOptions } from "./rest.ts"

const nothing = async (): Promise<void> => undefined

export const withoutAdmission: AdmitFunctions = { mutate: nothing, validate: nothing }

export function internalWrite(subresource = "", dryRun = false): WriteOptions {
  return { dryRun, fieldManager: "kube-apiserver", subresource }
}

/** The same caller, control plane and lifetime, on another object: what strategies see of the request is that object's. */
export function onBehalf(
  ctx: RequestContext,
  target: GroupVersionResource & { namespace: string; name: string; subresource?: string; verb?: Verb },
): RequestContext {
  const { group, version, resource, namespace, name, subresource = "", verb = "update" } = target
  return new BehalfContext(ctx, { ...ctx.info, group, version, resource, namespace, name, subresource, verb })
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

  constructor(ctx: RequestContext, info: RequestContext["info"]) {
    this.controlPlane = ctx.controlPlane
    this.user = ctx.user
    this.query = ctx.query
    this.headers = ctx.headers
    this.info = info
    if (ctx.turn !== undefined) this.turn = ctx.turn
    if (ctx.pause !== undefined) this.pause = ctx.pause
    this.#ctx = ctx
  }

  /** Most who are asked for it do without. */
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

/** The registry of a resource every control plane serves. */
export function builtIn(ctx: RequestContext, resource: GroupVersionResource): Registry {
  const registry = ctx.controlPlane.resources.registry(resource)
  if (registry === undefined) throw noSuchPath()
  return registry
}
