// corev1.ObjectReference, by which Events and statuses refer to an object.

import type { KubeObject } from "../apimachinery/object.ts"

export interface ObjectReference {
  apiVersion: string
  kind: string
  namespace?: string
  name: string
  uid: string
  resourceVersion?: string
  fieldPath?: string
}

export function referenceTo(object: KubeObject): ObjectReference {
  const { namespace, name = "", uid = "", resourceVersion } = object.metadata
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    ...(namespace === undefined || namespace === "" ? {} : { namespace }),
    name,
    uid,
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  }
}
