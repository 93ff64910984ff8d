// Claims with larger requests, on a tenant's own volumes, wait for an external resizer and get an event that says so.
// As upstream, which only expands FlexVolumes itself. Volumes of the super cluster are expanded there.
// Source: k8s.io/kubernetes/pkg/controller/volume/expand.

import type { PersistentVolume, PersistentVolumeClaim } from "../../apimachinery/object.ts"
import { unexplained } from "../../apimachinery/status.ts"
import { compareQuantities, parseQuantity, type Quantity } from "../../apimachinery/quantity.ts"
import { persistentVolumeClaims, persistentVolumes } from "../../client/resources.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"
import { formerSizeAnnotation } from "../volume-binding/bind.ts"
import { isBoundTo, isOfSuper } from "../volume-binding/matching.ts"
import { migrated } from "../volume-binding/plugins.ts"

const resizerAnnotation = "volume.kubernetes.io/storage-resizer"

const requested = ({ spec }: PersistentVolumeClaim): Quantity =>
  parseQuantity(spec?.resources?.requests?.["storage"] ?? "0")
const present = ({ status }: PersistentVolumeClaim): Quantity => parseQuantity(status?.capacity?.["storage"] ?? "0")

export function runVolumeExpansion(ctx: ControllerContext): Promise<void> {
  const claims = ctx.informers.of<PersistentVolumeClaim>(persistentVolumeClaims)
  const volumes = ctx.informers.of<PersistentVolume>(persistentVolumes)
  const controller = new Controller<PersistentVolumeClaim>(ctx, {
    name: "persistentvolume-expander",
    eventSource: "volume_expand",
    primary: claims,
    // Recorded when the request grows or the capacity shrinks, and not each time the tenant wakes.
    concerns: () => false,
    reads: [volumes],
  })
  claims.subscribe({
    updated(tenant, claim, previous) {
      const asksMore = compareQuantities(requested(claim), requested(previous)) > 0
      const hasMore = compareQuantities(present(claim), present(previous)) > 0
      if (asksMore || hasMore) controller.enqueueObject(tenant, claim)
    },
  })
  return controller.run(async ({ tenant, namespace, name }: Key, actor) => {
    const claim = claims.get(tenant, namespace, name)
    if (claim?.status?.phase !== "Bound") return
    const volume = volumes.get(tenant, undefined, claim.spec?.volumeName ?? "")
    if (volume?.spec === undefined || isOfSuper(volume)) return
    const isGrowing = volume.metadata.annotations?.[formerSizeAnnotation] !== undefined
    if (compareQuantities(requested(claim), present(claim)) <= 0 && !isGrowing) return
    // The cached volume may be older.
    if (!isBoundTo(volume, claim))
      throw unexplained(`volume ${volume.metadata.name} is not bound to ${namespace}/${name}`)
    if (volume.spec.flexVolume !== undefined) return
    const field = Object.keys(volume.spec).find((key) => Object.hasOwn(migrated, key)) ?? ""
    const migration = migrated[field]
    const message =
      migration === undefined
        ? "waiting for an external controller to expand this PVC"
        : `CSI migration enabled for ${migration.plugin}; waiting for external resizer to expand the pvc`
    actor.event(claim, "Normal", "ExternalExpanding", message)
    if (migration === undefined || claim.metadata.annotations?.[resizerAnnotation] === migration.driver) return
    const annotations = { [resizerAnnotation]: migration.driver }
    const options = { type: "merge" as const }
    await actor.client.patch(persistentVolumeClaims, namespace, name, { metadata: { annotations } }, options)
  })
}
