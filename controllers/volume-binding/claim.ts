// A claim: given a volume, told that it has one, or that it has lost it.

import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from "../../apimachinery/object.ts"
import {
  persistentVolumeClaims,
  persistentVolumes,
  pods as podResource,
  storageClasses,
} from "../../client/resources.ts"
import type { Key } from "../context.ts"
import { isFinished } from "../pods/pod-state.ts"
import { bind, setClaimStatus, setProvisioner } from "./bind.ts"
import {
  bestMatch,
  classOf,
  defaultOf,
  isBoundTo,
  isOfSuper,
  mismatch,
  noProvisioner,
  waitsForConsumer,
} from "./matching.ts"
import { boundByController, isBindingDone, type Binder } from "./binder.ts"

export async function reconcileClaim(binder: Binder, { tenant, namespace, name }: Key): Promise<void> {
  const { informers } = binder.ctx
  const claim = informers.of<PersistentVolumeClaim>(persistentVolumeClaims).get(tenant, namespace, name)
  if (claim === undefined) return
  const volumeName = claim.spec?.volumeName ?? ""
  const volume = informers.of<PersistentVolume>(persistentVolumes).get(tenant, undefined, volumeName)
  if (volume !== undefined && isOfSuper(volume)) return
  if (isBindingDone(claim)) return keep(binder, tenant, claim, volume)
  if (volumeName !== "") return bindNamed(binder, tenant, claim, volume)
  return find(binder, tenant, claim)
}

/** Once bound it stays with its volume, or is lost. */
async function keep(
  binder: Binder,
  tenant: string,
  claim: PersistentVolumeClaim,
  volume: PersistentVolume | undefined,
): Promise<void> {
  const isByUs = claim.metadata.annotations?.[boundByController] !== undefined
  const lose = async (reason: string, text: string): Promise<void> => {
    if (await setClaimStatus(binder, tenant, claim, "Lost", undefined)) {
      binder.claims.event(tenant, claim, "Warning", reason, text)
    }
  }
  if ((claim.spec?.volumeName ?? "") === "") {
    return lose("ClaimLost", "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!")
  }
  // What the super cluster has bound may be shown a moment before its volume is.
  if (volume === undefined) {
    return isByUs
      ? lose("ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!")
      : undefined
  }
  if (volume.spec?.claimRef === undefined || isBoundTo(volume, claim)) return bind(binder, tenant, volume, claim)
  return lose("ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly")
}

/** Somebody asked for this very volume. */
async function bindNamed(
  binder: Binder,
  tenant: string,
  claim: PersistentVolumeClaim,
  volume: PersistentVolume | undefined,
): Promise<void> {
  if (volume === undefined) return
  const event = (reason: string, text: string): void => binder.claims.event(tenant, claim, "Warning", reason, text)
  const name = JSON.stringify(volume.metadata.name)
  if (volume.spec?.claimRef === undefined) {
    const fault = mismatch(volume, claim)
    if (fault === undefined) return bind(binder, tenant, volume, claim)
    return event("VolumeMismatch", `Cannot bind to requested volume ${name}: ${fault}`)
  }
  if (isBoundTo(volume, claim)) return bind(binder, tenant, volume, claim)
  event("FailedBinding", `volume ${name} already bound to a different claim.`)
}

async function find(binder: Binder, tenant: string, claim: PersistentVolumeClaim): Promise<void> {
  const { informers } = binder.ctx
  const classes = informers.of<StorageClass>(storageClasses)
  const className = classOf(claim)
  const storageClass = classes.get(tenant, undefined, className)
  const volumes = informers
    .of<PersistentVolume>(persistentVolumes)
    .list(tenant)
    .filter((volume) => !isOfSuper(volume))
  const isSuperClass =
    storageClass !== undefined && isOfSuper(storageClass) && storageClass.provisioner !== noProvisioner
  // A volume made for this very claim is taken all the same.
  const found = bestMatch(volumes, claim, isSuperClass || waitsForConsumer(claim, storageClass))
  if (found !== undefined) return bind(binder, tenant, found, claim)
  if (isSuperClass) return
  const client = binder.claims.client(tenant)
  const { namespace, name = "", uid } = claim.metadata
  const byDefault = claim.spec?.storageClassName === undefined ? defaultOf(classes.list(tenant)) : undefined
  if (byDefault !== undefined && className === "") {
    const patch = { metadata: { uid }, spec: { storageClassName: byDefault.metadata.name } }
    await client.patch(persistentVolumeClaims, namespace, name, patch, { type: "merge" })
    return
  }
  const event = (type: "Normal" | "Warning", reason: string, text: string): void =>
    binder.claims.event(tenant, claim, type, reason, text)
  if (waitsForConsumer(claim, storageClass)) {
    const waiting = waitingPods(binder, tenant, claim)
    if (waiting.length === 0) {
      return event("Normal", "WaitForFirstConsumer", "waiting for first consumer to be created before binding")
    }
    const text = `waiting for pod${waiting.length > 1 ? "s" : ""} ${waiting.join()} to be scheduled`
    return event("Normal", "WaitForPodScheduled", text)
  }
  if (className === "") {
    const text = "no persistent volumes available for this claim and no storage class is set"
    return event("Normal", "FailedBinding", text)
  }
  if (storageClass === undefined) {
    return event("Warning", "ProvisioningFailed", `storageclass.storage.k8s.io "${className}" not found`)
  }
  const { provisioner } = storageClass
  await setProvisioner(binder, tenant, claim, provisioner)
  event(
    "Normal",
    "ExternalProvisioning",
    `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`,
  )
}

function waitingPods({ ctx }: Binder, tenant: string, { metadata }: PersistentVolumeClaim): string[] {
  return ctx.informers
    .of<Pod>(podResource)
    .byIndex(tenant, "claims", `${metadata.namespace ?? ""}/${metadata.name ?? ""}`)
    .filter((pod) => (pod.spec?.nodeName ?? "") === "" && !isFinished(pod))
    .map((pod) => pod.metadata.name ?? "")
}
