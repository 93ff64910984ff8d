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

/** Items of a list lack the apiVersion and kind that other responses have. */
export function withKinds<T extends KubeObject>(list: KubeList<T>): KubeList<T> {
  const kind = list.kind.replace(/List$/, "")
  for (const item of (list.items ??= [])) {
    item.apiVersion ??= list.apiVersion
    item.kind ??= kind
  }
  return list
}
