// Binds PersistentVolumes that a tenant created, and claims for them. What a class of the super cluster provisions is bound there, and
// such claims and volumes are left alone here. Source: k8s.io/kubernetes/pkg/controller/volume/persistentvolume. Nothing is provisioned
// here, and no storage is deleted: as upstream, external provisioners do that. The policy Recycle is carried out by a pod
// (recycling.ts).

import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from "../../apimachinery/object.ts"
import {
  persistentVolumeClaims,
  persistentVolumes,
  pods as podResource,
  storageClasses,
} from "../../client/resources.ts"
import type { ControllerContext } from "../context.ts"
import { Controller } from "../controller.ts"
import type { Recyclings } from "./binder.ts"
import { reconcileClaim } from "./claim.ts"
import { followBinding, type Followed } from "./events.ts"
import { isOfSuper } from "./matching.ts"
import { reconcileVolume } from "./volume.ts"

const eventSource = "persistentvolume-controller"

export async function runVolumeBinding(ctx: ControllerContext): Promise<void> {
  const followed: Followed = {
    claims: ctx.informers.of<PersistentVolumeClaim>(persistentVolumeClaims),
    volumes: ctx.informers.of<PersistentVolume>(persistentVolumes),
    classes: ctx.informers.of<StorageClass>(storageClasses),
    pods: ctx.informers.of<Pod>(podResource),
  }
  const recyclings: Recyclings = new Map()
  const claims = new Controller<PersistentVolumeClaim>(ctx, {
    name: "persistentvolume-binder",
    eventSource,
    primary: followed.claims,
    reads: [followed.volumes, followed.classes, followed.pods],
  })
  const volumes = new Controller<PersistentVolume>(ctx, {
    name: "persistentvolume-state",
    eventSource,
    primary: followed.volumes,
    concerns: (volume) => !isOfSuper(volume),
    reads: [followed.claims, followed.pods],
    forget: (tenant) => recyclings.delete(tenant),
  })
  followBinding(followed, { claims, volumes })
  const parts = { ctx, claims, volumes, recyclings, taken: new Map() }
  await Promise.all([
    claims.run((key, actor) => reconcileClaim({ ...parts, actor }, key)),
    volumes.run((key, actor) => reconcileVolume({ ...parts, actor }, key)),
  ])
}
