// Evicts pods from nodes whose NoExecute taints they do not tolerate, immediately or after their tolerationSeconds.
// Source: k8s.io/kubernetes/pkg/controller/tainteviction. A key without a namespace is a node, one with a namespace a pod.

import { toleranceOf, type Taint, type Toleration } from "../../apimachinery/core/node-selection.ts"
import type { Node, Pod } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { inTurns } from "../../client/in-turns.ts"
import { nodes as nodeResource, pods as podResource } from "../../client/resources.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { isVirtualNode } from "../../apimachinery/tenancy.ts"
import { isDisrupted, withDisruption } from "../pods/status-condition.ts"
import { prefix } from "./taints.ts"

const disruption = {
  reason: "DeletionByTaintManager",
  message: "Taint manager: deleting due to NoExecute taint",
}

const cancelling = "Cancelling deletion of"

/** Eviction times, by tenant and pod uid. One that has passed: the eviction failed, and is tried again. */
type Scheduled = Map<string, Map<string, number>>

export function runTaintEviction(ctx: ControllerContext): Promise<void> {
  const nodes = ctx.informers.of<Node>(nodeResource)
  const pods = ctx.informers.of<Pod>(podResource)
  const scheduled: Scheduled = new Map()
  const controller = new Controller<Node>(ctx, {
    name: "taint-eviction",
    primary: nodes,
    concerns: (node) => evictingTaints(node).length > 0,
    // A pod that has been evicted and does not end is not evicted once more with each report of its node.
    matters: (node, previous) => !equalIgnoringNulls(evictingTaints(node), evictingTaints(previous)),
    reads: [pods],
    forget: (tenant) => scheduled.delete(tenant),
  })
  const enqueue = (tenant: string, pod: Pod): void => {
    const node = nodes.get(tenant, undefined, pod.spec?.nodeName ?? "")
    const isScheduled = scheduled.get(tenant)?.has(pod.metadata.uid ?? "") === true
    if (isScheduled || (node !== undefined && evictingTaints(node).length > 0)) controller.enqueueObject(tenant, pod)
  }
  pods.subscribe({
    added: enqueue,
    updated(tenant, pod, previous) {
      const isSame = pod.spec?.nodeName === previous.spec?.nodeName
      if (!isSame || !equalIgnoringNulls(pod.spec?.tolerations, previous.spec?.tolerations)) enqueue(tenant, pod)
    },
    deleted(tenant, pod) {
      const { uid = "" } = pod.metadata
      const due = scheduled.get(tenant)?.get(uid)
      if (due === undefined) return
      scheduled.get(tenant)?.delete(uid)
      if (due > ctx.clock.elapsed()) recordEviction(controller.actor(tenant), pod, cancelling)
    },
  })
  return controller.run((key, actor) => reconcile({ ctx, controller, scheduled }, actor, key))
}

interface Parts {
  ctx: ControllerContext
  controller: Controller<Node>
  scheduled: Scheduled
}

/** On a virtual node, taints of the node's state act in the super cluster, and their effects are synced. */
function evictingTaints(node: Node): Taint[] {
  const taints = (node.spec?.taints ?? []).filter(({ effect }) => effect === "NoExecute")
  return isVirtualNode(node) ? taints.filter(({ key }) => !key.startsWith(prefix)) : taints
}

async function reconcile(parts: Parts, actor: Actor, { tenant, namespace, name }: Key): Promise<ReconcileResult> {
  const { ctx, controller, scheduled } = parts
  const pods = ctx.informers.of<Pod>(podResource)
  if (namespace === "") {
    const node = ctx.informers.of<Node>(nodeResource).get(tenant, undefined, name)
    const isTainted = node !== undefined && evictingTaints(node).length > 0
    if (!isTainted && (scheduled.get(tenant)?.size ?? 0) === 0) return
    return inTurns(pods.byIndex(tenant, "node", name), (pod) => controller.enqueueObject(tenant, pod))
  }
  const pod = pods.get(tenant, namespace, name)
  return pod === undefined ? undefined : reconcilePod(parts, actor, pod)
}

async function reconcilePod({ ctx, scheduled }: Parts, actor: Actor, pod: Pod): Promise<ReconcileResult> {
  const { tenant } = actor
  const { uid = "" } = pod.metadata
  const at = scheduled.get(tenant)?.get(uid)
  const now = ctx.clock.elapsed()
  const cancel = (): void => {
    scheduled.get(tenant)?.delete(uid)
    if (at !== undefined && at > now) recordEviction(actor, pod, cancelling)
  }
  const node = ctx.informers.of<Node>(nodeResource).get(tenant, undefined, pod.spec?.nodeName ?? "")
  if (node === undefined && at === undefined) return
  // A deleted node cancels no eviction.
  const wait = node === undefined ? 0 : toleratedMs(evictingTaints(node), pod.spec?.tolerations ?? [])
  if (wait === undefined) return cancel()
  // A scheduled eviction keeps its time, unless the taint is no longer tolerated.
  const due = wait === "not" ? now : (at ?? now + wait)
  if (due > now) {
    schedule(scheduled, tenant, uid, due)
    return { requeueAfterMs: due - now }
  }
  cancel()
  // Also recorded once for a pod that is already terminating.
  if (pod.metadata.deletionTimestamp !== undefined && isMarked(pod)) return
  recordEviction(actor, pod, "Marking for deletion")
  try {
    await evict(actor, pod, ctx.clock.now())
  } catch (error) {
    // The time that it was tolerated does not begin again. Of a pod that is gone nothing would be forgotten any more.
    const { namespace, name = "" } = pod.metadata
    const isThere = ctx.informers.of<Pod>(podResource).get(tenant, namespace, name)?.metadata.uid === uid
    if (isThere && wait !== "not") schedule(scheduled, tenant, uid, due)
    throw error
  }
}

function schedule(scheduled: Scheduled, tenant: string, uid: string, due: number): void {
  const ofTenant = scheduled.get(tenant) ?? new Map<string, number>()
  scheduled.set(tenant, ofTenant.set(uid, due))
}

function recordEviction(actor: Actor | undefined, pod: Pod, what: string): void {
  const { namespace = "", name = "" } = pod.metadata
  actor?.event(pod, "Normal", "TaintManagerEviction", `${what} Pod ${namespace}/${name}`)
}

function isMarked(pod: Pod): boolean {
  return isDisrupted(pod, disruption.reason)
}

/** undefined: tolerated forever; "not": one of them is not tolerated. */
function toleratedMs(taints: readonly Taint[], tolerations: readonly Toleration[]): number | "not" | undefined {
  if (taints.length === 0) return undefined
  let least = Number.POSITIVE_INFINITY
  const tolerationOf = toleranceOf(tolerations)
  for (const taint of taints) {
    const first = tolerationOf(taint)
    if (first === undefined) return "not"
    // As upstream, the first toleration that matches a taint counts.
    least = Math.min(least, Number(first.tolerationSeconds ?? Number.POSITIVE_INFINITY))
  }
  return least === Number.POSITIVE_INFINITY ? undefined : Math.max(0, least) * 1000
}

async function evict(actor: Actor, pod: Pod, now: number): Promise<void> {
  const client = actor.client
  const { namespace, name = "", uid } = pod.metadata
  try {
    if (!isMarked(pod)) {
      const seen = { ...disruption, observedGeneration: pod.metadata.generation }
      const patch = { metadata: { uid }, status: { conditions: withDisruption(pod, seen, now) } }
      await client.patch(podResource, namespace, name, patch, { type: "merge", subresource: "status" })
    }
    await client.delete(podResource, namespace, name, uid === undefined ? {} : { uid })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
