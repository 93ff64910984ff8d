// The four writes that bind a volume and a claim, in upstream's order, each left out when it is done: the volume's reference,
// its phase, the claim's volume, its phase. After a crash between two of them the next reconcile does the rest.

import type { PersistentVolume, PersistentVolumeClaim } from "../../apimachinery/object.ts"
import { persistentVolumeClaims, persistentVolumes } from "../../client/resources.ts"
import { equalButNulls } from "../../apimachinery/equality.ts"
import { bindCompleted, boundByController, isBindingDone, type Binder } from "./binder.ts"

export async function bind(
  binder: Binder,
  tenant: string,
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): Promise<void> {
  const reserved = await reserve(binder, tenant, volume, claim)
  const bound = await setVolumePhase(binder, tenant, reserved, "Bound")
  const named = await nameVolume(binder, tenant, bound, claim)
  await setClaimStatus(binder, tenant, named, "Bound", bound)
}

async function reserve(
  { volumes }: Binder,
  tenant: string,
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
  // One that was reserved before is not given back when the claim goes elsewhere.
  const annotations =
    before === undefined ? { ...volume.metadata.annotations, [boundByController]: "yes" } : volume.metadata.annotations
  const changed = {
    ...volume,
    metadata: { ...volume.metadata, ...(annotations === undefined ? {} : { annotations }) },
    spec: { ...volume.spec, claimRef },
  }
  return volumes.client(tenant).update<PersistentVolume>(persistentVolumes, changed)
}

export async function setVolumePhase(
  { volumes }: Binder,
  tenant: string,
  volume: PersistentVolume,
  phase: string,
  text?: string,
): Promise<PersistentVolume> {
  if (volume.status?.phase === phase && (volume.status.message ?? "") === (text ?? "")) return volume
  const { message: _, ...before } = volume.status ?? {}
  const status = { ...before, phase, ...(text === undefined ? {} : { message: text }) }
  return volumes
    .client(tenant)
    .update<PersistentVolume>(persistentVolumes, { ...volume, status }, { subresource: "status" })
}

async function nameVolume(
  { claims }: Binder,
  tenant: string,
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
  return claims.client(tenant).update<PersistentVolumeClaim>(persistentVolumeClaims, changed)
}

/** Whether it was written. */
export async function setClaimStatus(
  { claims }: Binder,
  tenant: string,
  claim: PersistentVolumeClaim,
  phase: string,
  volume: PersistentVolume | undefined,
): Promise<boolean> {
  const { accessModes: _, capacity, ...others } = claim.status ?? {}
  // Growing is told by who makes it grow: the size stays what it was once bound.
  const hasSize = claim.status?.phase === "Bound" && capacity !== undefined
  const ofVolume = {
    ...(volume?.spec?.accessModes === undefined ? {} : { accessModes: volume.spec.accessModes }),
    ...(hasSize ? { capacity } : volume?.spec?.capacity === undefined ? {} : { capacity: volume.spec.capacity }),
  }
  const attributes = volume?.spec?.volumeAttributesClassName
  const status = {
    ...others,
    phase,
    ...(volume === undefined ? {} : ofVolume),
    ...(attributes === undefined || hasSize ? {} : { currentVolumeAttributesClassName: attributes }),
  }
  if (equalButNulls(status, claim.status)) return false
  await claims
    .client(tenant)
    .update<PersistentVolumeClaim>(persistentVolumeClaims, { ...claim, status }, { subresource: "status" })
  return true
}

/** Whom the claim waits for; older provisioners look at the older annotation. */
export async function setProvisioner(
  { claims }: Binder,
  tenant: string,
  claim: PersistentVolumeClaim,
  provisioner: string,
): Promise<void> {
  const { namespace, name = "", uid, annotations = {} } = claim.metadata
  const wanted = {
    "volume.beta.kubernetes.io/storage-provisioner": provisioner,
    "volume.kubernetes.io/storage-provisioner": provisioner,
  }
  if (Object.entries(wanted).every(([key, value]) => annotations[key] === value)) return
  const patch = { metadata: { uid, annotations: wanted } }
  await claims.client(tenant).patch(persistentVolumeClaims, namespace, name, patch, { type: "merge" })
}
