// Evicts pods from devices with NoExecute taints that their claims do not tolerate, immediately or after their tolerationSeconds.
// Source: k8s.io/kubernetes/pkg/controller/devicetainteviction. DeviceTaintRules, which are disabled by default, are not
// implemented.

import type { Pod, ResourceClaim, ResourceSlice } from "../../apimachinery/object.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { pods as podResource, resourceClaims, resourceSlices } from "../../client/resources.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"
import { isTerminating } from "../pods/pod-state.ts"
import { withDisruption } from "../pods/status-condition.ts"
import { claimsOf, isFor, isReservedFor, wantedBy } from "../resource-claim/pod-claims.ts"
import { type AllocatedDevice, type DeviceTaint, evictionTime, poolOf, taintsOf } from "./eviction-time.ts"

const disruption = {
  reason: "DeletionByDeviceTaintManager",
  message: "Device Taint manager: deleting due to NoExecute taint",
}

/** Uids of pods. */
interface Evictions {
  /** Their eviction is said to be cancelled once they may stay. */
  scheduled: Set<string>
  /** Not again. One that does not end is scheduled again by each further reason, as upstream. */
  done: Set<string>
}

/** By tenant. */
type AllEvictions = Map<string, Evictions>

export function runDeviceTaints(ctx: ControllerContext): Promise<void> {
  const claims = ctx.informers.of<ResourceClaim>(resourceClaims)
  const slices = ctx.informers.of<ResourceSlice>(resourceSlices)
  const pods = ctx.informers.of<Pod>(podResource)
  const evictions: AllEvictions = new Map()
  const controller = new Controller<Pod>(ctx, {
    name: "device-taint-eviction",
    primary: pods,
    concerns: (pod) => claimsOf(pod).length > 0,
    matters: (pod, before) =>
      pod.spec?.nodeName !== before.spec?.nodeName ||
      !equalIgnoringNulls(pod.status?.resourceClaimStatuses, before.status?.resourceClaimStatuses),
    reads: [slices, claims],
    forget: (tenant) => evictions.delete(tenant),
  })
  const enqueueUsers = (tenant: string, { metadata: { namespace }, status }: ResourceClaim): void => {
    for (const { resource, apiGroup = "", name } of status?.reservedFor ?? []) {
      if (resource === "pods" && apiGroup === "") controller.enqueue(tenant, namespace, name)
    }
  }
  claims.subscribe({
    added: enqueueUsers,
    updated(tenant, claim, previous) {
      enqueueUsers(tenant, previous)
      enqueueUsers(tenant, claim)
    },
    deleted: enqueueUsers,
  })
  const changed = (tenant: string, slice: ResourceSlice): void => {
    const { driver, pool } = slice.spec
    for (const claim of claims.byIndex(tenant, "pool", poolOf(driver, pool.name))) enqueueUsers(tenant, claim)
  }
  slices.subscribe({ added: changed, updated: changed, deleted: changed })
  pods.subscribe({
    deleted(tenant, { metadata: { uid = "" } }) {
      const ofTenant = evictions.get(tenant)
      ofTenant?.scheduled.delete(uid)
      ofTenant?.done.delete(uid)
    },
  })
  return controller.run((key, actor) => reconcile(ctx, actor, evictions, key))
}

async function reconcile(
  ctx: ControllerContext,
  actor: Actor,
  evictions: AllEvictions,
  { tenant, namespace, name }: Key,
): Promise<ReconcileResult> {
  const pod = ctx.informers.of<Pod>(podResource).get(tenant, namespace, name)
  if (pod === undefined) return
  const { uid = "" } = pod.metadata
  const due = evictionDue(ctx, tenant, pod)
  const now = ctx.clock.now()
  const { scheduled, done } = evictions.get(tenant) ?? { scheduled: new Set(), done: new Set() }
  if (due === undefined) {
    if (scheduled.delete(uid)) {
      actor.event(pod, "Normal", "DeviceTaintManagerEviction", "Cancelling deletion")
    }
    return
  }
  evictions.set(tenant, { scheduled: scheduled.add(uid), done })
  if (done.has(uid)) return
  if (due > now) return { requeueAfterMs: due - now }
  await evict(actor, pod, now)
  scheduled.delete(uid)
  // It may be gone, and forgotten, already.
  if (ctx.informers.of<Pod>(podResource).get(tenant, namespace, name)?.metadata.uid === uid) done.add(uid)
}

/** The earliest time for any of its claims. A pod without a node does not use devices yet. */
function evictionDue({ informers }: ControllerContext, tenant: string, pod: Pod): number | undefined {
  if ((pod.spec?.nodeName ?? "") === "") return undefined
  const slices = informers.of<ResourceSlice>(resourceSlices)
  const taints = (device: AllocatedDevice): DeviceTaint[] =>
    taintsOf(slices.byIndex(tenant, "pool", poolOf(device.driver, device.pool)), device)
  const wantedOf = wantedBy(pod)
  const times = claimsOf(pod).flatMap((each) => {
    const wanted = wantedOf(each)
    if (wanted.state !== "named") return []
    const claim = informers.of<ResourceClaim>(resourceClaims).get(tenant, pod.metadata.namespace, wanted.name)
    if (claim === undefined || !isReservedFor(claim, pod) || (wanted.generated && !isFor(claim, pod))) return []
    return evictionTime(claim, taints) ?? []
  })
  return times.length === 0 ? undefined : Math.min(...times)
}

async function evict(actor: Actor, pod: Pod, now: number): Promise<void> {
  if (isTerminating(pod)) return
  const { namespace, name = "", uid } = pod.metadata
  actor.event(pod, "Normal", "DeviceTaintManagerEviction", "Marking for deletion")
  const client = actor.client
  try {
    const patch = { metadata: { uid }, status: { conditions: withDisruption(pod, disruption, now) } }
    await client.patch(podResource, namespace, name, patch, { type: "merge", subresource: "status" })
    await client.delete(podResource, namespace, name, uid === undefined ? {} : { uid })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
