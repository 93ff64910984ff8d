// Binds PersistentVolumes that a tenant created, and claims for them. What a class of the super cluster provisions is bound there, and
// such claims and volumes are left alone here. Source: k8s.io/kubernetes/pkg/controller/volume/persistentvolume. Nothing is provisioned
// here, and no storage is deleted: as upstream, external provisioners do that. The policy Recycle is carried out by a pod
// (recycling.ts). There is no resync every 15 s: changes of classes, volumes, claims and pods cause reconciles.

import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from "../../apimachinery/object.ts"
import {
  persistentVolumeClaims,
  persistentVolumes,
  pods as podResource,
  storageClasses,
} from "../../client/resources.ts"
import { Controller, type ControllerContext } from "../context.ts"
import { claimNamesOf } from "../pods/claims-of-pod.ts"
import { isBindingDone } from "../../apimachinery/core/claim-binding.ts"
import type { Binder, Recyclings } from "./binder.ts"
import { reconcileClaim } from "./claim.ts"
import { isOfSuper } from "./matching.ts"
import { recycledBy } from "./recycling.ts"
import { reconcileVolume } from "./volume.ts"

export async function runVolumeBinding(ctx: ControllerContext): Promise<void> {
  const allClaims = ctx.informers.of<PersistentVolumeClaim>(persistentVolumeClaims)
  const allVolumes = ctx.informers.of<PersistentVolume>(persistentVolumes)
  const classes = ctx.informers.of<StorageClass>(storageClasses)
  const pods = ctx.informers.of<Pod>(podResource)
  const recyclings: Recyclings = new Map()
  const eventSource = "persistentvolume-controller"
  const claims = new Controller<PersistentVolumeClaim>(ctx, {
    name: "persistentvolume-binder",
    eventSource,
    primary: allClaims,
    reads: [allVolumes, classes, pods],
  })
  const volumes = new Controller<PersistentVolume>(ctx, {
    name: "persistentvolume-state",
    eventSource,
    primary: allVolumes,
    concerns: (volume) => !isOfSuper(volume),
    reads: [allClaims, pods],
    forget: (tenant) => recyclings.delete(tenant),
  })
  const binder: Binder = { ctx, claims, volumes, recyclings }
  const pending = (tenant: string): void => {
    for (const claim of allClaims.list(tenant)) if (!isBindingDone(claim)) claims.enqueueObject(tenant, claim)
  }
  /** Enqueues the claims that wait for the volume, that are bound to it, or that have lost it. */
  const concerned = (tenant: string, volume: PersistentVolume): void => {
    if (isOfSuper(volume)) return
    // A volume that is being deleted is no candidate for waiting claims.
    const isGoing = volume.metadata.deletionTimestamp !== undefined
    for (const claim of allClaims.list(tenant)) {
      const isOfThis = claim.spec?.volumeName === volume.metadata.name
      if (isBindingDone(claim) ? isOfThis : !isGoing) claims.enqueueObject(tenant, claim)
    }
    const { namespace, name } = volume.spec?.claimRef ?? {}
    if (name !== undefined) claims.enqueue(tenant, namespace, name)
  }
  allVolumes.subscribe({ added: concerned, updated: concerned, deleted: concerned })
  const bound = (tenant: string, { spec, metadata }: PersistentVolumeClaim): void => {
    if ((spec?.volumeName ?? "") !== "") volumes.enqueue(tenant, undefined, spec?.volumeName ?? "")
    for (const volume of allVolumes.byIndex(tenant, "claim", `${metadata.namespace ?? ""}/${metadata.name ?? ""}`)) {
      volumes.enqueueObject(tenant, volume)
    }
  }
  allClaims.subscribe({ added: bound, updated: bound, deleted: bound })
  classes.subscribe({ added: pending, updated: pending })
  const recycler = (tenant: string, pod: Pod): void => {
    const volume = recycledBy(pod)
    if (volume !== undefined) volumes.enqueue(tenant, undefined, volume)
  }
  pods.subscribe({
    updated: recycler,
    deleted: recycler,
    // The pod's claims may be waiting for a consumer.
    added(tenant, pod) {
      for (const name of claimNamesOf(pod)) {
        const claim = allClaims.get(tenant, pod.metadata.namespace, name)
        if (claim !== undefined && !isBindingDone(claim)) claims.enqueueObject(tenant, claim)
      }
    },
  })
  await Promise.all([
    claims.run((key) => reconcileClaim(binder, key)),
    volumes.run((key) => reconcileVolume(binder, key)),
  ])
}
