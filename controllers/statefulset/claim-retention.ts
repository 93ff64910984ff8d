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
  const references = referencesTo(set, pod)
  const ours = present.filter((owner) => references.some((reference) => isSameName(owner, reference)))
  // Owned by a former set or pod of the name: the garbage collector's business.
  if (ours.some((owner) => isFormer(owner, references))) return undefined
  const others = present.filter((owner) => !ours.includes(owner))
  const wanted = others.some(isController) ? undefined : wantedOwner(set, pod, isWanted)
  const isRight =
    wanted === undefined
      ? ours.length === 0
      : ours.length > 0 && ours.every((owner) => owner.uid === wanted.uid && isController(owner))
  if (isRight) return undefined
  return wanted === undefined ? others : [...others, wanted]
}

/** The set has a policy for its claims which this one cannot follow: it goes with something else. */
export function isForeign(claim: PersistentVolumeClaim, set: StatefulSet, pod: Pod): boolean {
  const { whenDeleted, whenScaled } = policyOf(set)
  if (whenDeleted === "Retain" && whenScaled === "Retain") return false
  const references = referencesTo(set, pod)
  return (claim.metadata.ownerReferences ?? []).some((owner) => {
    const isOurs = references.some((reference) => isSameName(owner, reference))
    return isOurs ? isFormer(owner, references) : isController(owner)
  })
}

/** It goes with the pod that had the name before: a new pod must not find it. */
export function isOfFormerPod(claim: PersistentVolumeClaim, set: StatefulSet, pod: Pod): boolean {
  if (policyOf(set).whenScaled === "Retain") return false
  const reference = controllerReference(pod, podKind)
  return (claim.metadata.ownerReferences ?? []).some((owner) => isFormer(owner, [reference]))
}

function wantedOwner(set: StatefulSet, pod: Pod, isWanted: boolean): OwnerReference | undefined {
  const { whenDeleted, whenScaled } = policyOf(set)
  if (whenScaled === "Delete" && !isWanted) return controllerReference(pod, podKind)
  return whenDeleted === "Delete" ? controllerReference(set, statefulSetKind) : undefined
}

function policyOf(set: StatefulSet): { whenDeleted: string; whenScaled: string } {
  const { whenDeleted = "Retain", whenScaled = "Retain" } = set.spec?.persistentVolumeClaimRetentionPolicy ?? {}
  return { whenDeleted, whenScaled }
}

const referencesTo = (set: StatefulSet, pod: Pod): OwnerReference[] => [
  controllerReference(set, statefulSetKind),
  controllerReference(pod, podKind),
]

const isController = ({ controller }: OwnerReference): boolean => controller === true

const isSameName = (a: OwnerReference, b: OwnerReference): boolean =>
  a.apiVersion === b.apiVersion && a.kind === b.kind && a.name === b.name

const isFormer = (owner: OwnerReference, references: readonly OwnerReference[]): boolean =>
  references.some((reference) => isSameName(owner, reference) && owner.uid !== reference.uid)
