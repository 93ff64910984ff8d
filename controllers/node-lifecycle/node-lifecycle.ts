// Nodes that go silent, the taints of nodes in trouble, and what becomes of their pods' readiness. Virtual nodes are left
// alone: they are pictures, and what is decided of them is decided in the super cluster.
// Facts: k8s.io/kubernetes/pkg/controller/nodelifecycle. Not here: its rate limits per zone.

import { timestamp, type Node, type Pod } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { leases, nodes as nodeResource, pods as podResource } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { Controller, type ControllerContext, type Key } from "../context.ts"
import { isReady } from "../pods/pod-state.ts"
import { observe, silentConditions, silentInMs, type Health, type Lease } from "./health.ts"
import { isVirtual, readyCondition, wantedTaints } from "./taints.ts"

interface NodeMemory {
  health: Health | undefined
  /** Status of its condition Ready when it was last looked at. */
  ready: string | undefined
}

/** By tenant, then by name. */
type Memories = Map<string, Map<string, NodeMemory>>

export function runNodeLifecycle(ctx: ControllerContext): Promise<void> {
  const nodes = ctx.informers.of<Node>(nodeResource)
  const pods = ctx.informers.of<Pod>(podResource)
  const memories: Memories = new Map()
  const controller = new Controller<Node>(ctx, {
    name: "node-lifecycle",
    eventSource: "node-controller",
    primary: nodes,
    concerns: (node) => !isVirtual(node),
    reads: [pods],
    forget: (tenant) => memories.delete(tenant),
  })
  return controller.run((key) => reconcile(ctx, controller, memories, key))
}

async function reconcile(
  ctx: ControllerContext,
  controller: Controller<Node>,
  memories: Memories,
  { tenant, name }: Key,
): Promise<ReconcileResult> {
  const all = ctx.informers.of<Node>(nodeResource)
  let node = all.get(tenant, undefined, name)
  if (node === undefined || isVirtual(node)) {
    memories.get(tenant)?.delete(name)
    return
  }
  const now = ctx.clock.now()
  const client = controller.client(tenant)
  const ofTenant = memories.get(tenant) ?? new Map<string, NodeMemory>()
  memories.set(tenant, ofTenant)
  const memory = ofTenant.get(name) ?? { health: undefined, ready: readyCondition(node)?.status }
  ofTenant.set(name, memory)
  memory.health = observe(memory.health, node, await leaseOf(client, name), now)
  const wait = silentInMs(node, memory.health, now)
  if (wait === 0 && readyCondition(node)?.status !== "Unknown") {
    const status = { ...node.status, conditions: silentConditions(node, now) }
    node = await client.update<Node>(nodeResource, { ...node, status }, { subresource: "status" })
  }
  // When no node at all is ready, the fault is rather with who watches them: no pod is driven away.
  const evict = all.list(tenant).some((other) => readyCondition(other)?.status === "True")
  const taints = wantedTaints(node, evict, now)
  if (taints !== undefined) {
    const spec = { ...node.spec, taints }
    node = await client.update<Node>(nodeResource, { ...node, spec })
  }
  const ready = readyCondition(node)?.status
  if (memory.ready === "True" && ready !== "True") {
    controller.event(tenant, node, "Normal", "NodeNotReady", `Node ${name} status is now: NodeNotReady`)
    await markPods(ctx, controller, tenant, name)
  }
  if (memory.ready !== ready) {
    memory.ready = ready
    // Whether pods are driven from the others may depend on this one.
    controller.enqueueAll(tenant)
  }
  return ready === "Unknown" ? undefined : { requeueAfterMs: Math.max(1, wait) }
}

async function leaseOf(client: KubeClient, name: string): Promise<Lease | undefined> {
  try {
    return await client.get<Lease>(leases, "kube-node-lease", name)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** Services stop sending to pods of a node that is not ready. */
async function markPods(
  ctx: ControllerContext,
  controller: Controller<Node>,
  tenant: string,
  name: string,
): Promise<void> {
  const client = controller.client(tenant)
  const lastTransitionTime = timestamp(new Date(ctx.clock.now()))
  for (const pod of ctx.informers.of<Pod>(podResource).byIndex(tenant, "node", name)) {
    if (!isReady(pod)) continue
    const conditions = (pod.status?.conditions ?? []).map((condition) =>
      condition.type === "Ready" ? { ...condition, status: "False", lastTransitionTime } : condition,
    )
    controller.event(tenant, pod, "Warning", "NodeNotReady", "Node is not ready")
    try {
      const status = { ...pod.status, conditions }
      await client.update<Pod>(podResource, { ...pod, status }, { subresource: "status" })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}
