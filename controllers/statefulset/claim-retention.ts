// Whom a claim of a StatefulSet belongs to, so that the garbage collector removes it with the pod that was scaled away or with
// the set. Pure. Source: k8s.io/kubernetes/pkg/controller/statefulset/stateful_set_utils.go (KEP-1847).

import type { OwnerReference, PersistentVolumeClaim, Pod, StatefulSet } from "../../apimachinery/object.ts"
import { controllerReference } from "../pods/pod-control.ts"
import { statefulSetKind } from "./identity.ts"

const podKind = { apiVersion: "v1", kind: "Pod" }

/** The owners it should have; undefined: it has them. */
export function claimOwners(
  claim: PersistentVolumeClaim,
  set: StatefulSet,
  pod: Pod,
  isWanted: boolean,
): OwnerReference[] | undefined {
  const present = claim.metadata.ownerReferences ?? []
  const references = [controllerReference(set, statefulSetKind), controllerReference(pod, podKind)]
  const ours = present.filter((owner) => references.some((reference) => isSameName(owner, reference)))
  // Owned by a former set or pod of the name: the garbage collector's business.
  if (ours.some(({ uid }) => !references.some((reference) => reference.uid === uid))) return undefined
  const others = present.filter((owner) => !ours.includes(owner))
  const isForeign = others.some(({ controller }) => controller === true)
  const wanted = isForeign ? undefined : wantedOwner(set, pod, isWanted)
  const isRight =
    wanted === undefined
      ? ours.length === 0
      : ours.length > 0 && ours.every(({ uid, controller }) => uid === wanted.uid && controller === true)
  if (isRight) return undefined
  return wanted === undefined ? others : [...others, wanted]
}

function wantedOwner(set: StatefulSet, pod: Pod, isWanted: boolean): OwnerReference | undefined {
  const { whenDeleted = "Retain", whenScaled = "Retain" } = set.spec?.persistentVolumeClaimRetentionPolicy ?? {}
  if (whenScaled === "Delete" && !isWanted) return controllerReference(pod, podKind)
  return whenDeleted === "Delete" ? controllerReference(set, statefulSetKind) : undefined
}

const isSameName = (a: OwnerReference, b: OwnerReference): boolean =>
  a.apiVersion === b.apiVersion && a.kind === b.kind && a.name === b.name
