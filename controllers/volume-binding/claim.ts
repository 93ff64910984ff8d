// Reconciles a claim: binds it to a volume, completes its status, or reports that its volume is lost.

import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from "../../apimachinery/object.ts"
import { boundInSuperAnnotation } from "../../apimachinery/tenancy.ts"
import { inTurns } from "../../client/in-turns.ts"
import {
  persistentVolumeClaims,
  persistentVolumes,
  pods as podResource,
  storageClasses,
} from "../../client/resources.ts"
import type { Key } from "../controller.ts"
import { isFinished, isTerminating } from "../pods/pod-state.ts"
import { bind, setClaimStatus } from "./bind.ts"
import { bestMatch, isBoundTo, isOfSuper, mismatch, noProvisioner, selectedNode, waitsForConsumer } from "./matching.ts"
import { classOf, hasClass, defaultClassAnnotations, defaultOf } from "../../apimachinery/core/storage-classes.ts"
import { boundByController, isBindingDone } from "../../apimachinery/core/claim-binding.ts"
import type { Binder } from "./binder.ts"
import { migrateClaim } from "./migration.ts"
import { provision } from "./provisioning.ts"

/** A key without a namespace names a class: all of its claims that are not bound are enqueued. */
export async function reconcileClaim(binder: Binder, { tenant, namespace, name }: Key): Promise<void> {
  const { informers } = binder.ctx
  const claims = informers.of<PersistentVolumeClaim>(persistentVolumeClaims)
  if (namespace === "") {
    return inTurns(claims.byIndex(tenant, "waiting", name), (each) => binder.claims.enqueueObject(tenant, each))
  }
  const found = claims.get(tenant, namespace, name)
  if (found === undefined) return
  const volumeName = found.spec?.volumeName ?? ""
  const volume = informers.of<PersistentVolume>(persistentVolumes).get(tenant, undefined, volumeName)
  if (volume !== undefined && isOfSuper(volume)) return
  const claim = await migrateClaim(binder, found)
  if (isBindingDone(claim)) return keep(binder, claim, volume)
  if (volumeName !== "") return bindNamed(binder, claim, volume)
  return find(binder, claim)
}

/** Once bound, a claim keeps its volume, or the volume is lost. */
async function keep(binder: Binder, claim: PersistentVolumeClaim, volume: PersistentVolume | undefined): Promise<void> {
  const lose = async (reason: string, text: string): Promise<void> => {
    if (claim.status?.phase === "Lost") return
    await setClaimStatus(binder, claim, "Lost", undefined)
    binder.actor.event(claim, "Warning", reason, text)
  }
  if ((claim.spec?.volumeName ?? "") === "") {
    return lose("ClaimLost", "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!")
  }
  if (volume === undefined) {
    // A claim bound in the super cluster may become visible a moment before its volume does.
    if (claim.metadata.annotations?.[boundInSuperAnnotation] !== undefined) return undefined
    return lose("ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!")
  }
  const claimRef = volume.spec?.claimRef
  if (claimRef === undefined || claimRef.uid === claim.metadata.uid) return bind(binder, volume, claim)
  return lose("ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly")
}

/** The claim names a specific volume. */
async function bindNamed(
  binder: Binder,
  claim: PersistentVolumeClaim,
  volume: PersistentVolume | undefined,
): Promise<void> {
  const wait = (): Promise<void> => setClaimStatus(binder, claim, "Pending", undefined)
  if (volume === undefined) return wait()
  const refuse = async (reason: string, text: string): Promise<void> => {
    binder.actor.event(claim, "Warning", reason, text)
    await wait()
  }
  const name = JSON.stringify(volume.metadata.name)
  if (volume.spec?.claimRef === undefined) {
    const fault = mismatch(volume, claim)
    if (fault === undefined) return bind(binder, volume, claim)
    return refuse("VolumeMismatch", `Cannot bind to requested volume ${name}: ${fault}`)
  }
  if (isBoundTo(volume, claim)) return bind(binder, volume, claim)
  const taken = `volume ${name} already bound to a different claim.`
  // Only possible if another client removed the annotation that records the completed binding.
  if (claim.metadata.annotations?.[boundByController] !== undefined) {
    return binder.actor.event(claim, "Warning", "FailedBinding", taken)
  }
  return refuse("FailedBinding", taken)
}

const takenAs = (tenant: string, volume: PersistentVolume): string => `${tenant}\n${volume.metadata.name ?? ""}`

/** At once, claims that cannot have the same volume would try one after the other, all without their backoff. */
const offerAfterMs = 1_000

/**
 * Upstream binds one claim at a time: of several that chose the same volume, all but one would have to try again later. If it fails, those
 * that found it taken may have the volume.
 */
async function take(binder: Binder, volume: PersistentVolume, claim: PersistentVolumeClaim): Promise<void> {
  const { actor, taken, claims } = binder
  const name = takenAs(actor.tenant, volume)
  const refused: Key[] = []
  taken.set(name, refused)
  try {
    await bind(binder, volume, claim)
  } catch (error) {
    for (const key of refused) claims.enqueueAfter(key, offerAfterMs)
    throw error
  } finally {
    taken.delete(name)
  }
}

async function find(binder: Binder, claim: PersistentVolumeClaim): Promise<void> {
  const {
    ctx: { informers },
    actor: { tenant },
  } = binder
  const classes = informers.of<StorageClass>(storageClasses)
  const className = classOf(claim)
  const storageClass = classes.get(tenant, undefined, className)
  const { namespace, name = "", uid, annotations } = claim.metadata
  const all = informers.of<PersistentVolume>(persistentVolumes)
  const reserved = all.byIndex(tenant, "claim", `${namespace ?? ""}/${name}`)
  const free = Map.groupBy(all.byIndex(tenant, "free", className), (each) => binder.taken.get(takenAs(tenant, each)))
  const volumes = [...reserved, ...(free.get(undefined) ?? [])].filter((volume) => !isOfSuper(volume))
  const isSuperClass =
    storageClass !== undefined && isOfSuper(storageClass) && storageClass.provisioner !== noProvisioner
  // A volume reserved for this claim is used all the same.
  const waits = waitsForConsumer(storageClass)
  const found = bestMatch(volumes, claim, isSuperClass || waits)
  if (found !== undefined) return take(binder, found, claim)
  for (const refused of free.keys()) refused?.push({ tenant, namespace: namespace ?? "", name })
  if (isSuperClass) return
  const byDefault = hasClass(claim) ? undefined : defaultOf(classes.list(tenant), defaultClassAnnotations)
  if (byDefault !== undefined) {
    const patch = { metadata: { uid }, spec: { storageClassName: byDefault.metadata.name } }
    await binder.actor.client.patch(persistentVolumeClaims, namespace, name, patch, { type: "merge" })
    return
  }
  const event = (type: "Normal" | "Warning", reason: string, text: string): void =>
    binder.actor.event(claim, type, reason, text)
  const wait = (): Promise<void> => setClaimStatus(binder, claim, "Pending", undefined)
  // Once the scheduler has chosen the node, the volume is provisioned for it.
  if (waits && annotations?.[selectedNode] === undefined) {
    const waiting = waitingPods(binder, claim)
    const text = `waiting for pod${waiting.length > 1 ? "s" : ""} ${waiting.join()} to be scheduled`
    if (waiting.length > 0) event("Normal", "WaitForPodScheduled", text)
    else event("Normal", "WaitForFirstConsumer", "waiting for first consumer to be created before binding")
    return wait()
  }
  if (className === "") {
    const text = "no persistent volumes available for this claim and no storage class is set"
    event("Normal", "FailedBinding", text)
    return wait()
  }
  if (storageClass === undefined) {
    return event("Warning", "ProvisioningFailed", `storageclass.storage.k8s.io "${className}" not found`)
  }
  return provision(binder, claim, storageClass)
}

function waitingPods({ ctx, actor }: Binder, { metadata }: PersistentVolumeClaim): string[] {
  return ctx.informers
    .of<Pod>(podResource)
    .byIndex(actor.tenant, "claims", `${metadata.namespace ?? ""}/${metadata.name ?? ""}`)
    .filter((pod) => (pod.spec?.nodeName ?? "") === "" && !isFinished(pod) && !isTerminating(pod))
    .map((pod) => pod.metadata.name ?? "")
}
