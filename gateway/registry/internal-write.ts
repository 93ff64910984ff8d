// Writes the server makes by itself in the course of a request: a pod's binding, a quota's usage, what deletion needs.
// They pass the registry's whole flow but no admission, which has had its say on the request itself.

import type { GroupVersionResource } from "../../apimachinery/object.ts"
import { noSuchPath } from "../../apimachinery/status.ts"
import type { RequestContext, Verb } from "../request/context.ts"
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
  const { controlPlane, user, query, headers, turn, pause } = ctx
  return {
    controlPlane,
    user,
    query,
    headers,
    info: { ...ctx.info, group, version, resource, namespace, name, subresource, verb },
    get signal() {
      return ctx.signal // most who are asked for it do without
    },
    warn: (message) => ctx.warn(message),
    annotate: (key, value) => ctx.annotate?.(key, value),
    ...(turn === undefined ? {} : { turn }),
    ...(pause === undefined ? {} : { pause }),
  }
}

/** The registry of a resource every control plane serves. */
export function builtIn(ctx: RequestContext, resource: GroupVersionResource): Registry {
  const registry = ctx.controlPlane.resources.registry(resource)
  if (registry === undefined) throw noSuchPath()
  return registry
}
