// An object as caches keep it: without managedFields, which are often half of it and which no controller reads. Whoever writes
// an object back without them leaves them as they are (Kubernetes takes their absence for "nothing to say about managers").

import type { KubeObject } from "../apimachinery/object.ts"

/** Informers of one process that are handed the same object keep the same. */
const kept = new WeakMap<KubeObject, KubeObject>()

/** Frozen, as what clients hand out. All but its metadata is the object's own. */
export function trim<T extends KubeObject>(object: T): T {
  if (object.metadata.managedFields === undefined) return object
  const known = kept.get(object) as T | undefined
  if (known !== undefined) return known
  const { managedFields: _, ...metadata } = object.metadata
  const trimmed = Object.freeze({ ...object, metadata: Object.freeze(metadata) })
  kept.set(object, trimmed)
  return trimmed
}
