// PersistentVolumes a tenant made itself, and claims for them: bound, lost, released. What a class of the super cluster
// provisions is bound there, and such claims and volumes are left alone here.
// Facts: k8s.io/kubernetes/pkg/controller/volume/persistentvolume. Nothing is provisioned here, and no storage is deleted: as
// upstream, that is for provisioners outside. Not looked at again every 15 s: changes of classes, volumes, claims and pods are.

import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from "../../apimachinery/object.ts"
import {
  persistentVolumeClaims,
  persistentVolumes,
  pods as podResource,
  storageClasses,
} from "../../client/resources.ts"
import { Controller, type ControllerContext } from "../context.ts"
import { claimNamesOf } from "../pods/claims-of-pod.ts"
import { isBindingDone, type Binder } from "./binder.ts"
import { reconcileClaim } from "./claim.ts"
import { isOfSuper } from "./matching.ts"
import { reconcileVolume } from "./volume.ts"

export async function runVolumeBinding(ctx: ControllerContext): Promise<void> {
  const allClaims = ctx.informers.of<PersistentVolumeClaim>(persistentVolumeClaims)
  const allVolumes = ctx.informers.of<PersistentVolume>(persistentVolumes)
  const classes = ctx.informers.of<StorageClass>(storageClasses)
  const pods = ctx.informers.of<Pod>(podResource)
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
    reads: [allClaims],
  })
  const binder: Binder = { ctx, claims, volumes }
  const pending = (tenant: string): void => {
    for (const claim of allClaims.list(tenant)) if (!isBindingDone(claim)) claims.enqueueObject(tenant, claim)
  }
  /** Who waits for a volume, and who has this one. */
  const concerned = (tenant: string, volume: PersistentVolume): void => {
    if (isOfSuper(volume)) return
    pending(tenant)
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
  pods.subscribe({
    // Its claims may wait for it.
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
