// Which claims and volumes an event concerns: those that it may bind, release or recycle. Upstream also finds them by a resync of
// everything every 15 s, which does not exist here: what is missing below is never reconciled.

import { isBindingDone } from "../../apimachinery/core/claim-binding.ts"
import { classOf } from "../../apimachinery/core/storage-classes.ts"
import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from "../../apimachinery/object.ts"
import type { TenantInformer } from "../../client/informers/tenant-informer.ts"
import { claimNamesOf } from "../pods/claims-of-pod.ts"
import { roundPauseMs } from "../round-pause.ts"
import type { Binder } from "./binder.ts"
import { isOfSuper } from "./matching.ts"
import { recycledBy } from "./recycling.ts"

/** The informers of everything that can cause a reconcile. */
export interface Followed {
  claims: TenantInformer<PersistentVolumeClaim>
  volumes: TenantInformer<PersistentVolume>
  classes: TenantInformer<StorageClass>
  pods: TenantInformer<Pod>
}

type Queues = Pick<Binder, "claims" | "volumes">

export function followBinding(followed: Followed, queues: Queues): void {
  followVolumes(followed, queues)
  followClaims(followed, queues)
  followClasses(followed, queues)
  followPods(followed, queues)
}

/** A volume that is being deleted is mostly gone by then, and nothing is to be said of it; upstream looks every 15 s. */
const goingMs = 1_000

/** The claims that wait for the volume, that are bound to it, or that have lost it. */
function followVolumes(followed: Followed, queues: Queues): void {
  const { claims, volumes } = followed
  const changed = (tenant: string, volume: PersistentVolume): void => {
    if (isOfSuper(volume)) return
    const { name: volumeName = "", deletionTimestamp } = volume.metadata
    const isGoing = deletionTimestamp !== undefined && volumes.get(tenant, undefined, volumeName) !== undefined
    const enqueue = (of = "", claim = ""): void => {
      if (isGoing) queues.claims.enqueueAfter({ tenant, namespace: of, name: claim }, goingMs)
      else queues.claims.enqueue(tenant, of, claim)
    }
    // A volume that is being deleted, or is another claim's, is no candidate for waiting claims.
    const isFree = deletionTimestamp === undefined && volume.spec?.claimRef === undefined
    for (const { metadata } of claims.byIndex(tenant, "volume", volumeName)) enqueue(metadata.namespace, metadata.name)
    if (isFree) enqueueWaiting(followed, queues, tenant, classOf(volume))
    const { namespace, name } = volume.spec?.claimRef ?? {}
    if (name !== undefined) enqueue(namespace, name)
  }
  volumes.subscribe({ added: changed, updated: changed, deleted: changed })
}

/** The volume that the claim names, and those that name the claim. */
function followClaims({ claims, volumes }: Followed, queues: Queues): void {
  const changed = (tenant: string, { spec, metadata }: PersistentVolumeClaim): void => {
    const { volumeName = "" } = spec ?? {}
    if (volumeName !== "") queues.volumes.enqueue(tenant, undefined, volumeName)
    for (const volume of volumes.byIndex(tenant, "claim", `${metadata.namespace ?? ""}/${metadata.name ?? ""}`)) {
      queues.volumes.enqueueObject(tenant, volume)
    }
  }
  claims.subscribe({ added: changed, updated: changed, deleted: changed })
}

/** A class decides whether and when its claims are bound here. */
function followClasses(followed: Followed, queues: Queues): void {
  const changed = (tenant: string, { metadata: { name = "" } }: StorageClass): void => {
    // Claims without a class wait for one by default.
    for (const className of [name, ""]) enqueueWaiting(followed, queues, tenant, className)
  }
  const { classes } = followed
  classes.subscribe({ added: changed, updated: changed })
}

/**
 * Enqueues the claims of a class that are not bound: now, or where each of many would look at many volumes, after further changes. A key
 * without a namespace stands for them (claim.ts), so that a burst of volumes does not enqueue each of them each time.
 */
function enqueueWaiting({ claims, volumes }: Followed, queues: Queues, tenant: string, className: string): void {
  const waiting = claims.countByIndex(tenant, "waiting", className)
  const pauseMs = roundPauseMs(waiting * (1 + volumes.countByIndex(tenant, "free", className)))
  if (pauseMs > 0) queues.claims.enqueueAfter({ tenant, namespace: "", name: className }, pauseMs)
  else for (const claim of claims.byIndex(tenant, "waiting", className)) queues.claims.enqueueObject(tenant, claim)
}

/** A new pod may be the consumer that its claims wait for. Recycler pods report on the volume they scrub. */
function followPods({ claims, pods }: Followed, queues: Queues): void {
  const recycler = (tenant: string, pod: Pod): void => {
    const volume = recycledBy(pod)
    if (volume !== undefined) queues.volumes.enqueue(tenant, undefined, volume)
  }
  pods.subscribe({
    updated: recycler,
    deleted: recycler,
    added(tenant, pod) {
      for (const name of claimNamesOf(pod)) {
        const claim = claims.get(tenant, pod.metadata.namespace, name)
        if (claim !== undefined && !isBindingDone(claim)) queues.claims.enqueueObject(tenant, claim)
      }
    },
  })
}
