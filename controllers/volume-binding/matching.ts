// Selects the PersistentVolume for a claim. Pure. Source: k8s.io/component-helpers/storage/volume,
// k8s.io/kubernetes/pkg/controller/volume/persistentvolume/index.go.

import { classOf } from "../../apimachinery/core/storage-classes.ts"
import { matches, selectorFromLabelSelector } from "../../apimachinery/labels.ts"
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../apimachinery/object.ts"
import { uidAnnotation } from "../../apimachinery/tenancy.ts"
import { milliValue, parseQuantity } from "../../apimachinery/quantity.ts"

export const selectedNode = "volume.kubernetes.io/selected-node"
export const noProvisioner = "kubernetes.io/no-provisioner"

/** Published by the syncer from the super cluster, which owns the object. */
export const isOfSuper = ({ metadata }: PersistentVolume | StorageClass): boolean =>
  metadata.annotations?.[uidAnnotation] !== undefined

/** In thousandths of a byte. */
export function sizeOf(quantity: string | undefined): number {
  return quantity === undefined ? 0 : milliValue(parseQuantity(quantity))
}

const modeOf = (object: PersistentVolume | PersistentVolumeClaim): string => object.spec?.volumeMode ?? "Filesystem"
const attributesOf = (object: PersistentVolume | PersistentVolumeClaim): string =>
  object.spec?.volumeAttributesClassName ?? ""
function hasModes(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const offered = new Set(volume.spec?.accessModes)
  return (claim.spec?.accessModes ?? []).every((mode) => offered.has(mode))
}

export const hasOtherMode = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  modeOf(volume) !== modeOf(claim)

/** The volume is reserved for this claim, or bound to it. */
export function isBoundTo({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const { name, namespace, uid = "" } = spec?.claimRef ?? {}
  return name === metadata.name && namespace === metadata.namespace && (uid === "" || uid === metadata.uid)
}

/** The scheduler chooses the node and the volume together. */
export const waitsForConsumer = (storageClass: StorageClass | undefined): boolean =>
  storageClass?.volumeBindingMode === "WaitForFirstConsumer"

/**
 * Among the volumes with the fewest access modes that suffice: the one reserved for the claim; otherwise, unless a scheduler
 * chooses, the smallest one that fits.
 */
export function bestMatch(
  volumes: readonly PersistentVolume[],
  claim: PersistentVolumeClaim,
  waits: boolean,
): PersistentVolume | undefined {
  const requested = sizeOf(claim.spec?.resources?.requests?.["storage"])
  const selector = claim.spec?.selector === undefined ? undefined : selectorFromLabelSelector(claim.spec.selector)
  const isReserved = (volume: PersistentVolume): boolean => isBoundTo(volume, claim)
  const isFree = (volume: PersistentVolume): boolean =>
    !waits &&
    volume.spec?.claimRef === undefined &&
    volume.status?.phase === "Available" &&
    classOf(volume) === classOf(claim) &&
    (selector === undefined || matches(selector, volume.metadata.labels ?? {}))
  let best: { volume: PersistentVolume; rank: readonly number[] } | undefined
  for (const volume of volumes) {
    const isCandidate =
      volume.metadata.deletionTimestamp === undefined &&
      hasModes(volume, claim) &&
      !hasOtherMode(volume, claim) &&
      attributesOf(volume) === attributesOf(claim) &&
      (isReserved(volume) || isFree(volume))
    if (!isCandidate) continue
    const capacity = sizeOf(volume.spec?.capacity?.["storage"])
    const rank = [new Set(volume.spec?.accessModes).size, isReserved(volume) ? 0 : 1, capacity]
    if (capacity >= requested && (best === undefined || isBefore(rank, best.rank))) best = { volume, rank }
  }
  return best?.volume
}

function isBefore(one: readonly number[], other: readonly number[]): boolean {
  const at = one.findIndex((number, index) => number !== other[index])
  return at >= 0 && (one[at] ?? 0) < (other[at] ?? 0)
}

/** Why the volume that a claim names does not fit it; undefined if it fits. */
export function mismatch(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  if (volume.metadata.deletionTimestamp !== undefined) {
    return `the volume is marked for deletion "${volume.metadata.name ?? ""}"`
  }
  const requested = sizeOf(claim.spec?.resources?.requests?.["storage"])
  if (sizeOf(volume.spec?.capacity?.["storage"]) < requested) return "requested PV is too small"
  if (classOf(volume) !== classOf(claim)) return "storageClassName does not match"
  if (attributesOf(volume) !== attributesOf(claim)) return "volumeAttributesClassName does not match"
  if (hasOtherMode(volume, claim)) return "incompatible volumeMode"
  return hasModes(volume, claim) ? undefined : "incompatible accessMode"
}
