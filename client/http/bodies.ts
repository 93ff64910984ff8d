// Bodies of requests and responses. Pure.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { DeleteOptions, KubeList } from "../rest.ts"

export function deleteOptions(options: DeleteOptions): object {
  const { uid, resourceVersion, gracePeriodSeconds, propagationPolicy } = options
  const preconditions = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  }
  return {
    apiVersion: "v1",
    kind: "DeleteOptions",
    ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
  }
}

/** What a server sends need not be what its clients expect: it may be a tenant's, or a proxy in between. */
export function isObject(value: unknown): value is KubeObject {
  const { metadata } = (value ?? {}) as { metadata?: unknown }
  return typeof metadata === "object" && metadata !== null
}

/** Go's empty list may be null. */
export function isList(value: KubeList<KubeObject>): boolean {
  const { kind, items } = value as { kind?: unknown; items?: unknown }
  return typeof kind === "string" && (Array.isArray(items) ? items.every(isObject) : items == null)
}

/** Items of a list lack the apiVersion and kind that other responses have, and some servers' lists have no metadata. */
export function withKinds<T extends KubeObject>(list: KubeList<T>): KubeList<T> {
  const kind = list.kind.replace(/List$/, "")
  list.metadata ??= { resourceVersion: "" }
  for (const item of (list.items ??= [])) {
    item.apiVersion ??= list.apiVersion
    item.kind ??= kind
  }
  return list
}
