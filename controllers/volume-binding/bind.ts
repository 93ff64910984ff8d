// The four writes that bind a volume and a claim, in upstream's order: the volume's claimRef, its phase, the claim's volumeName, its
// phase. Writes that are already done are skipped, so the next reconcile continues after a crash.

import type { PersistentVolume, PersistentVolumeClaim } from "../../apimachinery/object.ts"
import { persistentVolumeClaims, persistentVolumes } from "../../client/resources.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { isQuantity } from "../../apimachinery/quantity.ts"
import { bindCompleted, boundByController, isBindingDone } from "../../apimachinery/core/claim-binding.ts"
import type { Binder } from "./binder.ts"

/** Size of a volume before its expansion, until its file system has been expanded. */
export const formerSizeAnnotation = "volume.alpha.kubernetes.io/pre-resize-capacity"

export async function bind(binder: Binder, volume: PersistentVolume, claim: PersistentVolumeClaim): Promise<void> {
  const reserved = await reserve(binder, volume, claim)
  const bound = await setVolumePhase(binder, reserved, "Bound")
  const named = await nameVolume(binder, bound, claim)
  await setClaimStatus(binder, named, "Bound", bound)
}

async function reserve(
  { actor }: Binder,
  volume: PersistentVolume,
  { metadata, apiVersion, kind }: PersistentVolumeClaim,
): Promise<PersistentVolume> {
  const before = volume.spec?.claimRef
  const { namespace, name, uid, resourceVersion } = metadata
  if (before !== undefined && before.uid === uid && before.name === name && before.namespace === namespace)
    return volume
  const claimRef = {
    apiVersion: apiVersion ?? "v1",
    kind: kind ?? "PersistentVolumeClaim",
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  }
  // A volume that was reserved beforehand is not released when its claim is bound to another one.
  const annotations =
    before === undefined ? { ...volume.metadata.annotations, [boundByController]: "yes" } : volume.metadata.annotations
  const changed = {
    ...volume,
    metadata: { ...volume.metadata, ...(annotations === undefined ? {} : { annotations }) },
    spec: { ...volume.spec, claimRef },
  }
  return actor.client.update<PersistentVolume>(persistentVolumes, changed)
}

export async function setVolumePhase(
  { actor }: Binder,
  volume: PersistentVolume,
  phase: string,
  text?: string,
): Promise<PersistentVolume> {
  if (volume.status?.phase === phase) return volume
  const { message: _, ...before } = volume.status ?? {}
  const status = { ...before, phase, ...(text === undefined ? {} : { message: text }) }
  return actor.client.update<PersistentVolume>(persistentVolumes, { ...volume, status }, { subresource: "status" })
}

async function nameVolume(
  { actor }: Binder,
  { metadata }: PersistentVolume,
  claim: PersistentVolumeClaim,
): Promise<PersistentVolumeClaim> {
  const isNamed = claim.spec?.volumeName === metadata.name
  if (isNamed && isBindingDone(claim)) return claim
  const annotations = {
    ...claim.metadata.annotations,
    [bindCompleted]: "yes",
    ...(isNamed ? {} : { [boundByController]: "yes" }),
  }
  const spec = { ...claim.spec, volumeName: metadata.name ?? "" }
  const changed = { ...claim, metadata: { ...claim.metadata, annotations }, spec }
  return actor.client.update<PersistentVolumeClaim>(persistentVolumeClaims, changed)
}

/** The claim was bound to another volume. A claimRef that a user set is kept without the uid: it is meant for this claim only. */
export async function unbind(binder: Binder, volume: PersistentVolume): Promise<void> {
  const { [boundByController]: isByUs, ...annotations } = volume.metadata.annotations ?? {}
  const { claimRef, ...spec } = volume.spec ?? {}
  const { uid: _, ...reserved } = claimRef ?? {}
  const changed = (
    isByUs === undefined
      ? { ...volume, spec: { ...spec, claimRef: reserved } }
      : { ...volume, metadata: { ...volume.metadata, annotations }, spec }
  ) as PersistentVolume
  const updated = await binder.actor.client.update<PersistentVolume>(persistentVolumes, changed)
  await setVolumePhase(binder, updated, "Available")
}

export async function setClaimStatus(
  { actor }: Binder,
  claim: PersistentVolumeClaim,
  phase: string,
  volume: PersistentVolume | undefined,
): Promise<void> {
  const status = { ...statusWith(claim, phase, volume), phase }
  if (equalIgnoringNulls(status, claim.status)) return
  await actor.client.update<PersistentVolumeClaim>(
    persistentVolumeClaims,
    { ...claim, status },
    { subresource: "status" },
  )
}

type ClaimStatus = NonNullable<PersistentVolumeClaim["status"]>

function statusWith(
  { status = {} }: PersistentVolumeClaim,
  phase: string,
  volume: PersistentVolume | undefined,
): ClaimStatus {
  const { accessModes: _, capacity, currentVolumeAttributesClassName, ...others } = status
  if (volume === undefined) return others
  const { accessModes, volumeAttributesClassName: attributes } = volume.spec ?? {}
  // Once the claim is bound, its capacity and attributes are updated by the component that changes them.
  const size = status.phase === phase ? capacity : sizeOf(capacity, volume)
  const isNew = phase === "Bound" && (status.phase ?? "Pending") === "Pending"
  const current = isNew ? attributes : currentVolumeAttributesClassName
  return {
    ...others,
    ...(accessModes === undefined ? {} : { accessModes }),
    ...(size === undefined ? {} : { capacity: size }),
    ...(current === undefined ? {} : { currentVolumeAttributesClassName: current }),
  }
}

/** The spec of a volume being expanded has the new size already; its file system does not. */
function sizeOf(before: ClaimStatus["capacity"], { metadata, spec }: PersistentVolume): ClaimStatus["capacity"] {
  const former = metadata.annotations?.[formerSizeAnnotation]
  return former !== undefined && isQuantity(former) ? { ...before, storage: former } : spec?.capacity
}
