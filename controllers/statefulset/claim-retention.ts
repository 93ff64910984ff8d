// Whom a claim of a StatefulSet belongs to, so that the garbage collector removes it with the pod that was scaled away or with
// the set. Pure. Source: k8s.io/kubernetes/pkg/controller/statefulset/stateful_set_utils.go (KEP-1847).

import type { OwnerReference, PersistentVolumeClaim, Pod, StatefulSet } from "../../apimachinery/object.ts"
import { jsonEqual } from "../equality.ts"
import { controllerReference } from "../pods/pod-control.ts"
import { statefulSetKind } from "./identity.ts"

/** The owners it should have; undefined: it has them. */
export function claimOwners(
  claim: PersistentVolumeClaim,
  set: StatefulSet,
  pod: Pod,
  isWanted: boolean,
): OwnerReference[] | undefined {
  const present = claim.metadata.ownerReferences ?? []
  const isSet = (owner: OwnerReference): boolean => owner.kind === "StatefulSet" && owner.name === set.metadata.name
  const isPod = (owner: OwnerReference): boolean => owner.kind === "Pod" && owner.name === pod.metadata.name
  const isStale = present.some(
    (owner) => (isSet(owner) && owner.uid !== set.metadata.uid) || (isPod(owner) && owner.uid !== pod.metadata.uid),
  )
  // Owned by a former set or pod of the name: the garbage collector's business.
  if (isStale) return undefined
  const others = present.filter((owner) => !isSet(owner) && !isPod(owner))
  const { whenDeleted = "Retain", whenScaled = "Retain" } = set.spec?.persistentVolumeClaimRetentionPolicy ?? {}
  const owners = [...others]
  const isForeign = others.some((owner) => owner.controller === true)
  if (!isForeign) {
    if (whenScaled === "Delete" && !isWanted) owners.push(owner(pod, { apiVersion: "v1", kind: "Pod" }))
    else if (whenDeleted === "Delete") owners.push(owner(set, statefulSetKind))
  }
  return jsonEqual(owners, present) ? undefined : owners
}

function owner(object: Pod | StatefulSet, kind: { apiVersion: string; kind: string }): OwnerReference {
  const { blockOwnerDeletion: _, ...reference } = controllerReference(object, kind)
  return reference
}
