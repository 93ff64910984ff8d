// Reconciles a volume: available, bound, or released by its claim and then treated according to its reclaim policy.

import type { PersistentVolume, PersistentVolumeClaim } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { persistentVolumeClaims, persistentVolumes } from "../../client/resources.ts"
import type { Key } from "../controller.ts"
import { setVolumePhase, unbind } from "./bind.ts"
import { hasOtherMode, isOfSuper } from "./matching.ts"
import type { Binder } from "./binder.ts"
import { migrateVolume, withoutInTreeFinalizer } from "./migration.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { discard, recycle } from "./recycling.ts"
import { deleterOf, migratedTo, provisionedBy } from "./plugins.ts"

export async function reconcileVolume(binder: Binder, { tenant, name }: Key): Promise<ReconcileResult> {
  const found = binder.ctx.informers.of<PersistentVolume>(persistentVolumes).get(tenant, undefined, name)
  if (found === undefined || isOfSuper(found)) return discard(binder, name)
  const volume = await migrateVolume(binder, found)
  const reference = volume.spec?.claimRef
  // Reserved for a claim without uid: the claim's reconcile binds it.
  if (reference === undefined || (reference.uid ?? "") === "") {
    await setVolumePhase(binder, volume, "Available")
    return discard(binder, name)
  }
  const claim = await claimOf(binder, reference)
  if (claim === undefined) return release(binder, volume)
  await discard(binder, name)
  const volumeName = claim.spec?.volumeName ?? ""
  if (volumeName === name) {
    await setVolumePhase(binder, volume, "Bound")
  } else if (volumeName !== "") {
    const isProvisioned = volume.metadata.annotations?.[provisionedBy] !== undefined
    if (isProvisioned && volume.spec?.persistentVolumeReclaimPolicy === "Delete") {
      return release(binder, volume)
    }
    await unbind(binder, volume)
  } else if (hasOtherMode(volume, claim)) {
    const why = "due to incompatible volumeMode."
    const claimName = JSON.stringify(claim.metadata.name)
    const text = `Cannot bind PersistentVolume to requested PersistentVolumeClaim ${claimName} ${why}`
    binder.actor.event(volume, "Warning", "VolumeMismatch", text)
    const message = `Cannot bind PersistentVolume ${JSON.stringify(name)} to requested PersistentVolumeClaim ${why}`
    binder.actor.event(claim, "Warning", "VolumeMismatch", message)
  } else {
    binder.claims.enqueueObject(tenant, claim)
  }
}

type Reference = NonNullable<NonNullable<PersistentVolume["spec"]>["claimRef"]>

/** Reads the claim from the API if the cache does not have it: a volume must not be released because of a stale cache. */
async function claimOf(
  { ctx, actor }: Binder,
  { namespace, name = "", uid }: Reference,
): Promise<PersistentVolumeClaim | undefined> {
  const known = ctx.informers.of<PersistentVolumeClaim>(persistentVolumeClaims).get(actor.tenant, namespace, name)
  if (known?.metadata.uid === uid) return known
  try {
    const claim = await actor.client.get<PersistentVolumeClaim>(persistentVolumeClaims, namespace, name)
    return claim.metadata.uid === uid ? claim : undefined
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

async function release(binder: Binder, volume: PersistentVolume): Promise<ReconcileResult> {
  const policy = volume.spec?.persistentVolumeReclaimPolicy
  const isMigrated = volume.metadata.annotations?.[migratedTo] !== undefined
  const deleter = policy === "Delete" && !isMigrated ? deleterOf(volume) : "outside"
  const fault = faultOf(deleter, volume)
  // In one write, where upstream releases it first: a volume that is being deleted goes as soon as it is released, before anybody is told.
  const phase = volume.status?.phase === "Failed" || fault !== undefined ? "Failed" : "Released"
  const isNew = volume.status?.phase !== phase
  const released = await setVolumePhase(binder, volume, phase, isNew ? fault : undefined)
  if (isMigrated) return
  if (policy === "Recycle") return recycle(binder, released)
  await discard(binder, volume.metadata.name ?? "")
  if (fault !== undefined) {
    if (isNew) binder.actor.event(released, "Warning", "VolumeFailedDelete", fault)
  } else if (deleter === "in-tree") await deleteVolume(binder, released)
}

/** Why its storage cannot be deleted. */
function faultOf(deleter: ReturnType<typeof deleterOf>, volume: PersistentVolume): string | undefined {
  if (deleter === "outside") return undefined
  return deleter === "in-tree" ? hostPathFault(volume) : deleter.fault
}

/** Upstream's only in-tree deleter is meant for tests on a single machine. */
function hostPathFault({ metadata, spec }: PersistentVolume): string | undefined {
  const path = spec?.hostPath?.path
  if (path === undefined) {
    return `failed to create deleter for volume "${metadata.name ?? ""}": spec.PersistentVolumeSource.HostPath is nil`
  }
  return /\/tmp\/./.test(path) ? undefined : `host_path deleter only supports /tmp/.+ but received provided ${path}`
}

/** Upstream first deletes the directory on its own machine; tenants have no data on ours. */
async function deleteVolume({ actor }: Binder, volume: PersistentVolume): Promise<void> {
  const { name = "", uid, resourceVersion, finalizers = [], deletionTimestamp } = volume.metadata
  const client = actor.client
  const kept = withoutInTreeFinalizer(volume)
  if (kept.length < finalizers.length) {
    const patch = { metadata: { uid, resourceVersion, finalizers: kept.length === 0 ? null : kept } }
    await client.patch(persistentVolumes, undefined, name, patch, { type: "merge" })
  }
  if (deletionTimestamp === undefined) {
    await client.delete(persistentVolumes, undefined, name, uid === undefined ? {} : { uid })
  }
}
