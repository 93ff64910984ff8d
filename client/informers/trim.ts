// Prepares an object for caches: without managedFields, which are often half of its size and which no controller reads. Writing
// it back without them leaves them unchanged (Kubernetes treats absent managedFields as no change).

import type { KubeObject } from "../../apimachinery/object.ts"

/** Informers of one process that receive the same object share the trimmed one. */
const kept = new WeakMap<KubeObject, KubeObject>()

/** Frozen, like the objects that clients return. Everything except its metadata is shared with the object. */
export function trim<T extends KubeObject>(object: T): T {
  if (object.metadata.managedFields === undefined) return object
  const known = kept.get(object) as T | undefined
  if (known !== undefined) return known
  const { managedFields: _, ...metadata } = object.metadata
  const trimmed = Object.freeze({ ...object, metadata: Object.freeze(metadata) })
  kept.set(object, trimmed)
  return trimmed
}
