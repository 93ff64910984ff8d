// What controllers keep of an object of an aggregated API: what decides about its deletion and that of its dependents. Its server is
// untrusted: what does not conform to the types is dropped.

import type { KubeObject, OwnerReference } from "../../apimachinery/object.ts"

const isText = (value: unknown): value is string => typeof value === "string" && value !== ""
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

/** Undefined if it does not say which object it is. `ofInterest`: finalizers. */
export function reduced(whole: unknown, ofInterest: readonly string[]): KubeObject | undefined {
  const metadata = isRecord(whole) ? whole["metadata"] : undefined
  if (!isRecord(metadata)) return undefined
  const { name, namespace, uid, resourceVersion, deletionTimestamp } = metadata
  if (!isText(name) || !isText(uid)) return undefined
  const ownerReferences = listOf(metadata["ownerReferences"]).filter(isOwner).map(ownerOf)
  const held = listOf(metadata["finalizers"])
  const finalizers = ofInterest.filter((each) => held.includes(each))
  return {
    apiVersion: "",
    kind: "",
    metadata: {
      name,
      uid,
      ...(isText(namespace) ? { namespace } : {}),
      ...(isText(resourceVersion) ? { resourceVersion } : {}),
      ...(isText(deletionTimestamp) ? { deletionTimestamp } : {}),
      ...(ownerReferences.length === 0 ? {} : { ownerReferences }),
      ...(finalizers.length === 0 ? {} : { finalizers }),
    },
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

function isOwner(value: unknown): value is OwnerReference {
  return isRecord(value) && ["apiVersion", "kind", "name", "uid"].every((key) => isText(value[key]))
}

/** Without what else it may contain. */
function ownerOf({ apiVersion, kind, name, uid, blockOwnerDeletion }: OwnerReference): OwnerReference {
  return { apiVersion, kind, name, uid, ...(blockOwnerDeletion === true ? { blockOwnerDeletion } : {}) }
}
