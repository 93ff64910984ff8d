// Deletes pods that no other component will delete: pods of deleted nodes, terminating pods that were never scheduled, terminating
// pods on nodes that are out of service, and the oldest finished pods if there are too many. Source:
// k8s.io/kubernetes/pkg/controller/podgc.
//
// Keys without a namespace are nodes; those with one are pods. Nothing is polled: a healthy tenant has no timers.

import type { Node, Pod } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { isVirtualNode } from "../../apimachinery/tenancy.ts"
import { nodes as nodeResource, pods as podResource } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { Controller, type ControllerContext, type Key } from "../context.ts"
import { outOfService, readyCondition } from "../node-lifecycle/taints.ts"
import { isFinished, isTerminating } from "../pods/pod-state.ts"
import { failAndDelete } from "../pods/status-condition.ts"

/** How long a node may be missing before its pods are deleted. */
const nodeGoneGraceMs = 40_000
/** The key for the finished pods of a tenant; not a valid node name. */
const finishedKey = ":finished"

const gone = { reason: "DeletionByPodGC", message: "PodGC: node no longer exists" }

export function runPodGarbageCollector(ctx: ControllerContext): Promise<void> {
  const nodes = ctx.informers.of<Node>(nodeResource)
  const pods = ctx.informers.of<Pod>(podResource)
  const limit = ctx.limits.finishedPods
  /** When nodes with pods were first found missing, by "tenant/name". */
  const missing = new Map<string, number>()
  /** Deleted nodes of the tenants' own, with pods on them: even finished pods are deleted. By "tenant/name". */
  const departed = new Set<string>()
  /** Number of finished pods per tenant. */
  const finished = new Map<string, number>()
  const forget = (tenant: string): void => {
    finished.delete(tenant)
    for (const ids of [missing, departed]) {
      for (const id of ids.keys()) if (id.startsWith(`${tenant}/`)) ids.delete(id)
    }
  }
  const controller = new Controller<Node>(ctx, {
    name: "pod-garbage-collector",
    primary: nodes,
    concerns: isOutOfService,
    reads: [pods],
    forget,
  })
  const count = (tenant: string, change: number): void => {
    if (change === 0) return
    const now = (finished.get(tenant) ?? 0) + change
    finished.set(tenant, now)
    if (now > limit) controller.enqueue(tenant, undefined, finishedKey)
  }
  const look = (tenant: string, pod: Pod): void => {
    const { nodeName = "" } = pod.spec ?? {}
    if (nodeName === "") {
      if (isTerminating(pod)) controller.enqueueObject(tenant, pod)
      return
    }
    const node = nodes.get(tenant, undefined, nodeName)
    const isLost = node === undefined ? !isFinished(pod) : isTerminating(pod) && isOutOfService(node)
    if (isLost) controller.enqueue(tenant, undefined, nodeName)
  }
  pods.subscribe({
    added(tenant, pod) {
      count(tenant, Number(isFinished(pod)))
      look(tenant, pod)
    },
    updated(tenant, pod, previous) {
      count(tenant, Number(isFinished(pod)) - Number(isFinished(previous)))
      look(tenant, pod)
    },
    deleted: (tenant, pod) => count(tenant, -Number(isFinished(pod))),
    asleep: (tenant) => void finished.delete(tenant),
    // Keys cannot be enqueued before synced.
    synced: (tenant) => {
      for (const pod of pods.list(tenant)) look(tenant, pod)
      count(tenant, 0)
    },
  })
  nodes.subscribe({
    deleted(tenant, node) {
      const { name = "" } = node.metadata
      const hasPods = pods.byIndex(tenant, "node", name).length > 0
      if (hasPods && !isVirtualNode(node)) departed.add(`${tenant}/${name}`)
    },
    synced: (tenant) => {
      for (const pod of pods.list(tenant)) look(tenant, pod)
    },
  })
  return controller.run(async ({ tenant, namespace, name }: Key): Promise<ReconcileResult> => {
    const client = controller.client(tenant)
    const now = ctx.clock.now()
    if (namespace !== "") {
      const pod = pods.get(tenant, namespace, name)
      const isUnscheduled = pod !== undefined && isTerminating(pod) && (pod.spec?.nodeName ?? "") === ""
      if (isUnscheduled) await failAndDelete(client, pod, undefined, now)
      return
    }
    if (name === finishedKey) {
      const all = pods.list(tenant).filter(isFinished).sort(byWorth)
      for (const pod of all.slice(0, Math.max(0, all.length - limit))) await failAndDelete(client, pod, undefined, now)
      return
    }
    const node = nodes.get(tenant, undefined, name)
    const id = `${tenant}/${name}`
    const onNode = pods.byIndex(tenant, "node", name)
    if (node !== undefined) {
      missing.delete(id)
      departed.delete(id)
      if (!isOutOfService(node)) return
      for (const pod of onNode.filter(isTerminating)) await failAndDelete(client, pod, undefined, now)
      return
    }
    // A virtual node is deleted with its node in the super cluster, which must not delete records of a tenant: finished pods stay.
    const orphans = departed.has(id) ? onNode : onNode.filter((pod) => !isFinished(pod))
    if (orphans.length === 0) {
      missing.delete(id)
      departed.delete(id)
      return
    }
    const since = missing.get(id) ?? now
    missing.set(id, since)
    const wait = since + nodeGoneGraceMs - now
    if (wait > 0) return { requeueAfterMs: wait }
    if (await exists(client, name)) return
    for (const pod of orphans) await failAndDelete(client, pod, gone, now)
    missing.delete(id)
    departed.delete(id)
  })
}

function isOutOfService(node: Node): boolean {
  const isTainted = (node.spec?.taints ?? []).some(({ key }) => key === outOfService)
  return isTainted && readyCondition(node)?.status !== "True"
}

async function exists(client: KubeClient, name: string): Promise<boolean> {
  try {
    await client.get(nodeResource, undefined, name)
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

/** Evicted pods first, then the oldest. */
function byWorth(a: Pod, b: Pod): number {
  const evicted = (pod: Pod): number => (pod.status?.phase === "Failed" && pod.status.reason === "Evicted" ? 0 : 1)
  const rank = (pod: Pod): string =>
    `${evicted(pod)} ${pod.metadata.creationTimestamp ?? ""} ${pod.metadata.name ?? ""}`
  return rank(a) < rank(b) ? -1 : 1
}
