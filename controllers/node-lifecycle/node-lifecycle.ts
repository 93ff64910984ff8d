// Marks nodes that stop reporting as unknown, taints unhealthy nodes, and marks their pods as not ready. Virtual nodes are
// skipped: they show nodes of the super cluster, which makes these decisions.
// Source: k8s.io/kubernetes/pkg/controller/nodelifecycle.

import { timestamp, type Node, type Pod } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { isVirtualNode } from "../../apimachinery/tenancy.ts"
import { leases, nodes as nodeResource, pods as podResource } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { Controller, type ControllerContext, type Key } from "../context.ts"
import { isReady } from "../pods/pod-state.ts"
import { observe, silentConditions, silentInMs, type Health, type Lease } from "./health.ts"
import { outdatedLabels } from "./labels.ts"
import { isEvicting, readyCondition, wantedTaints } from "./taints.ts"
import { allDown, counts, evictionRate, EvictionPace, zoneOf } from "./zones.ts"

const merge = { type: "merge" } as const

interface NodeMemory {
  /** Reference to the node for the event about its removal. The object itself is not kept while the tenant sleeps. */
  reference: Node
  health: Health | undefined
  /** Status of its Ready condition at the last reconcile. */
  ready: string | undefined
  /** The node has stopped reporting, and its pods are not marked as not ready yet. */
  hasPodsToMark: boolean
}

interface TenantMemory {
  nodes: Map<string, NodeMemory>
  pace: EvictionPace
  /** No node was ready at the last check. */
  isAllDown: boolean
}

/** By tenant. */
type Memories = Map<string, TenantMemory>

export function runNodeLifecycle(ctx: ControllerContext): Promise<void> {
  const nodes = ctx.informers.of<Node>(nodeResource)
  const pods = ctx.informers.of<Pod>(podResource)
  const memories: Memories = new Map()
  const controller = new Controller<Node>(ctx, {
    name: "node-lifecycle",
    eventSource: "node-controller",
    primary: nodes,
    concerns: (node) => !isVirtualNode(node),
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
  if (node === undefined || isVirtualNode(node)) {
    const known = memories.get(tenant)?.nodes
    const gone = known?.get(name)
    known?.delete(name)
    if (gone === undefined) return
    recordNodeEvent(controller, tenant, gone.reference, "RemovingNode", `Removing Node ${name} from Controller`)
    // It may have been the last ready node.
    controller.enqueueAll(tenant)
    return
  }
  const now = ctx.clock.now()
  const client = controller.client(tenant)
  const ofTenant = memories.get(tenant) ?? { nodes: new Map(), pace: new EvictionPace(), isAllDown: false }
  memories.set(tenant, ofTenant)
  const memory = ofTenant.nodes.get(name) ?? {
    reference: referenceTo(node),
    health: undefined,
    ready: readyCondition(node)?.status,
    hasPodsToMark: false,
  }
  if (!ofTenant.nodes.has(name))
    recordNodeEvent(controller, tenant, node, "RegisteredNode", `Registered Node ${name} in Controller`)
  ofTenant.nodes.set(name, memory)
  memory.health = observe(memory.health, node, await leaseOf(client, name), now)
  const labels = outdatedLabels(node)
  if (labels !== undefined)
    node = await client.patch<Node>(nodeResource, undefined, name, { metadata: { labels } }, merge)
  const wait = silentInMs(node, memory.health, now)
  if (wait === 0 && readyCondition(node)?.status !== "Unknown") {
    // A kubelet that reports itself not ready also reports its pods.
    memory.hasPodsToMark = readyCondition(node)?.status === "True"
    const status = { ...node.status, conditions: silentConditions(node, now) }
    node = await client.update<Node>(nodeResource, { ...node, status }, { subresource: "status" })
    if (memory.hasPodsToMark)
      controller.event(tenant, node, "Normal", "NodeNotReady", `Node ${name} status is now: NodeNotReady`)
  }
  const turn = mayEvict(all.list(tenant), node, ofTenant.pace, now)
  const taints = wantedTaints(node, turn.evict, now)
  if (taints !== undefined) {
    const spec = { ...node.spec, taints }
    node = await client.update<Node>(nodeResource, { ...node, spec })
  }
  const ready = readyCondition(node)?.status
  if (memory.hasPodsToMark && ready !== "True") await markPods(ctx, controller, tenant, name)
  memory.hasPodsToMark = false
  if (memory.ready !== ready || ofTenant.isAllDown !== turn.isAllDown) {
    memory.ready = ready
    ofTenant.isAllDown = turn.isAllDown
    // Evictions from the other nodes may depend on this one.
    controller.enqueueAll(tenant)
  }
  if (turn.waitMs !== undefined) return { requeueAfterMs: turn.waitMs }
  return ready === "Unknown" ? undefined : { requeueAfterMs: Math.max(1, wait) }
}

function referenceTo({ metadata: { name = "", uid = "" } }: Node): Node {
  return { apiVersion: "v1", kind: "Node", metadata: { name, uid } }
}

function recordNodeEvent(controller: Controller<Node>, tenant: string, node: Node, reason: string, what: string): void {
  controller.event(tenant, node, "Normal", reason, `Node ${node.metadata.name} event: ${what}`)
}

/** `waitMs`: evict after this delay. Otherwise this is checked again when any node's state changes. */
function mayEvict(
  all: readonly Node[],
  node: Node,
  pace: EvictionPace,
  now: number,
): { evict: boolean; isAllDown: boolean; waitMs?: number } {
  // If no node is ready, the observer is more likely to be at fault than the nodes: no pod is evicted.
  const zone = zoneOf(node)
  const nodes = all.map((other) => (other.metadata.name === node.metadata.name ? node : other)).filter(counts)
  const isAllDown = allDown(nodes)
  if (isAllDown) return { evict: false, isAllDown }
  if (readyCondition(node)?.status === "True" || isEvicting(node)) return { evict: true, isAllDown }
  const rate = evictionRate(nodes.filter((other) => zoneOf(other) === zone))
  if (rate === 0) return { evict: false, isAllDown }
  const waitMs = pace.take(zone, rate, now)
  return waitMs === 0 ? { evict: true, isAllDown } : { evict: false, isAllDown, waitMs }
}

async function leaseOf(client: KubeClient, name: string): Promise<Lease | undefined> {
  try {
    return await client.get<Lease>(leases, "kube-node-lease", name)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** Services stop sending traffic to the pods of a node that is not ready. */
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
