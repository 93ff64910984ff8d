// Pods leave devices whose NoExecute taints their claims do not tolerate, at once or when they have been tolerated long
// enough. Facts: k8s.io/kubernetes/pkg/controller/devicetainteviction. Not here: DeviceTaintRules, which are off by default.

import type { Pod, ResourceClaim, ResourceSlice } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { pods as podResource, resourceClaims, resourceSlices } from "../../client/resources.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { Controller, type ControllerContext, type Key } from "../context.ts"
import { isFinished, isTerminating } from "../pods/pod-state.ts"
import { withDisruption } from "../pods/status-condition.ts"
import { evictionTime, taintsOf } from "./eviction-time.ts"

const disruption = {
  reason: "DeletionByDeviceTaintManager",
  message: "Device Taint manager: deleting due to NoExecute taint",
}

/** By tenant: uids of pods that are to go at some time. */
type Scheduled = Map<string, Set<string>>

export function runDeviceTaints(ctx: ControllerContext): Promise<void> {
  const claims = ctx.informers.of<ResourceClaim>(resourceClaims)
  const slices = ctx.informers.of<ResourceSlice>(resourceSlices)
  const pods = ctx.informers.of<Pod>(podResource)
  const scheduled: Scheduled = new Map()
  const controller = new Controller<ResourceClaim>(ctx, {
    name: "device-taint-eviction",
    eventSource: "device-taint-eviction",
    primary: claims,
    concerns: ({ status }) => status?.allocation !== undefined,
    reads: [slices, pods],
    forget: (tenant) => scheduled.delete(tenant),
  })
  const changed = (tenant: string, slice: ResourceSlice): void => {
    for (const claim of claims.list(tenant)) {
      const results = claim.status?.allocation?.devices?.results ?? []
      const isConcerned = results.some(
        ({ driver, pool }) => driver === slice.spec.driver && pool === slice.spec.pool.name,
      )
      if (isConcerned) controller.enqueueObject(tenant, claim)
    }
  }
  slices.subscribe({ added: changed, updated: changed, deleted: changed })
  return controller.run((key) => reconcile(ctx, controller, scheduled, key))
}

async function reconcile(
  ctx: ControllerContext,
  controller: Controller<ResourceClaim>,
  scheduled: Scheduled,
  { tenant, namespace, name }: Key,
): Promise<ReconcileResult> {
  const claim = ctx.informers.of<ResourceClaim>(resourceClaims).get(tenant, namespace, name)
  if (claim === undefined) return
  const slices = ctx.informers.of<ResourceSlice>(resourceSlices).list(tenant)
  const due = evictionTime(claim, (device) => taintsOf(slices, device))
  const now = ctx.clock.now()
  const ofTenant = scheduled.get(tenant) ?? new Set<string>()
  for (const consumer of claim.status?.reservedFor ?? []) {
    if (consumer.resource !== "pods" || (consumer.apiGroup ?? "") !== "") continue
    const pod = ctx.informers.of<Pod>(podResource).get(tenant, namespace, consumer.name)
    if (pod?.metadata.uid !== consumer.uid || pod.metadata.deletionTimestamp !== undefined || isFinished(pod)) continue
    if (due !== undefined && due <= now) {
      ofTenant.delete(consumer.uid)
      await evict(controller, tenant, pod, now)
    } else if (due !== undefined) scheduled.set(tenant, ofTenant.add(consumer.uid))
    else if (ofTenant.delete(consumer.uid)) {
      controller.event(tenant, pod, "Normal", "DeviceTaintManagerEviction", "Cancelling deletion")
    }
  }
  return due === undefined || due <= now ? undefined : { requeueAfterMs: due - now }
}

async function evict(controller: Controller<ResourceClaim>, tenant: string, pod: Pod, now: number): Promise<void> {
  const { namespace, name = "", uid } = pod.metadata
  if (isTerminating(pod)) return
  controller.event(tenant, pod, "Normal", "DeviceTaintManagerEviction", "Marking for deletion")
  const client = controller.client(tenant)
  try {
    const patch = { metadata: { uid }, status: { conditions: withDisruption(pod, disruption, now) } }
    await client.patch(podResource, namespace, name, patch, { type: "merge", subresource: "status" })
    await client.delete(podResource, namespace, name, uid === undefined ? {} : { uid })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
