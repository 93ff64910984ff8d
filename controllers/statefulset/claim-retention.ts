// Determines the owners of a StatefulSet's claims, so that the garbage collector deletes a claim together with its pod or with the
// set. Pure. Source: k8s.io/kubernetes/pkg/controller/statefulset/stateful_set_utils.go (KEP-1847).

import type { OwnerReference, PersistentVolumeClaim, Pod, StatefulSet } from "../../apimachinery/object.ts"
import { controllerReference } from "../pods/pod-control.ts"
import { statefulSetKind } from "./identity.ts"

const podKind = { apiVersion: "v1", kind: "Pod" }

/** The owners the claim should have; undefined if it has them already. */
export function claimOwners(
  claim: PersistentVolumeClaim,
  set: StatefulSet,
  pod: Pod,
  isWanted: boolean,
): OwnerReference[] | undefined {
  const present = claim.metadata.ownerReferences ?? []
  const references = referencesTo(set, pod)
  const isOurs = (owner: OwnerReference): boolean => references.some((reference) => isSameName(owner, reference))
  const ours = present.filter(isOurs)
  // The claim belongs to an earlier set or pod of the same name and is left to the garbage collector.
  if (ours.some((owner) => isFormer(owner, references))) return undefined
  const others = present.filter((owner) => !isOurs(owner))
  const wanted = others.some(isController) ? undefined : wantedOwner(set, pod, isWanted)
  const isRight =
    wanted === undefined
      ? ours.length === 0
      : ours.length > 0 && ours.every((owner) => owner.uid === wanted.uid && isController(owner))
  if (isRight) return undefined
  return wanted === undefined ? others : [...others, wanted]
}

/** The pods with which the claim is deleted. */
export const podsOwning = ({ metadata }: PersistentVolumeClaim): OwnerReference[] =>
  (metadata.ownerReferences ?? []).filter(
    ({ apiVersion, kind }) => apiVersion === podKind.apiVersion && kind === podKind.kind,
  )

/** Whether claims may be deleted with the set or with pods. */
export function deletesClaims(set: StatefulSet): boolean {
  const { whenDeleted, whenScaled } = policyOf(set)
  return whenDeleted !== "Retain" || whenScaled !== "Retain"
}

/** Whether the set's retention policy cannot apply to this claim, because something else owns it. */
export function isForeign(claim: PersistentVolumeClaim, set: StatefulSet, pod: Pod): boolean {
  if (!deletesClaims(set)) return false
  const references = referencesTo(set, pod)
  return (claim.metadata.ownerReferences ?? []).some((owner) => {
    const isOurs = references.some((reference) => isSameName(owner, reference))
    return isOurs ? isFormer(owner, references) : isController(owner)
  })
}

/** The claim is deleted with the earlier pod of the same name, so a new pod must not use it. */
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
