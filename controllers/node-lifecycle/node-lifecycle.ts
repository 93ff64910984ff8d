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
import { podCondition } from "../pods/pod-state.ts"
import { observe, silentConditions, silentInMs, type Health, type Lease } from "./health.ts"
import { outdatedLabels } from "./labels.ts"
import { isEvicting, readyCondition, wantedTaints } from "./taints.ts"
import { allDown, counts, evictionRate, EvictionPace, zoneOf } from "./zones.ts"

const merge = { type: "merge" } as const
/** How often a Lease is looked at: it is not known when it was renewed, but since when it has not been. */
const leaseMs = 10_000

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
  const cached = all.get(tenant, undefined, name)
  if (cached === undefined || isVirtualNode(cached)) return forgetNode(controller, memories.get(tenant), tenant, name)
  const now = ctx.clock.now()
  const ofTenant = memoryOf(memories, tenant)
  const memory = ofTenant.nodes.get(name) ?? registerNode(controller, ofTenant, tenant, cached)
  const client = controller.client(tenant)
  const health = observe(memory.health, cached, await leaseOf(client, name), ctx.clock)
  memory.health = health
  let node = await alignLabels(client, cached)
  const silentMs = silentInMs(node, health, ctx.clock.elapsed())
  if (silentMs === 0) node = await markSilent(controller, tenant, memory, node, now)
  const turn = mayEvict(all.list(tenant), node, ofTenant.pace, ctx.clock.elapsed())
  node = await alignTaints(client, node, turn.evict, now)
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
  if (ready === "Unknown") return undefined
  return { requeueAfterMs: Math.max(1, Math.min(silentMs, leaseMs)) }
}

function memoryOf(memories: Memories, tenant: string): TenantMemory {
  const known = memories.get(tenant)
  if (known !== undefined) return known
  const created: TenantMemory = { nodes: new Map(), pace: new EvictionPace(), isAllDown: false }
  memories.set(tenant, created)
  return created
}

function registerNode(controller: Controller<Node>, { nodes }: TenantMemory, tenant: string, node: Node): NodeMemory {
  const { name = "" } = node.metadata
  const memory: NodeMemory = {
    reference: referenceTo(node),
    health: undefined,
    ready: readyCondition(node)?.status,
    hasPodsToMark: false,
  }
  recordNodeEvent(controller, tenant, node, "RegisteredNode", `Registered Node ${name} in Controller`)
  nodes.set(name, memory)
  return memory
}

function forgetNode(
  controller: Controller<Node>,
  ofTenant: TenantMemory | undefined,
  tenant: string,
  name: string,
): void {
  const known = ofTenant?.nodes.get(name)
  if (known === undefined) return
  ofTenant?.nodes.delete(name)
  recordNodeEvent(controller, tenant, known.reference, "RemovingNode", `Removing Node ${name} from Controller`)
  // It may have been the last ready node.
  controller.enqueueAll(tenant)
}

/** Returns the node as it is stored afterwards, as do markSilent and alignTaints. */
async function alignLabels(client: KubeClient, node: Node): Promise<Node> {
  const labels = outdatedLabels(node)
  if (labels === undefined) return node
  return client.patch<Node>(nodeResource, undefined, node.metadata.name ?? "", { metadata: { labels } }, merge)
}

/** For a node whose grace period has ended. */
async function markSilent(
  controller: Controller<Node>,
  tenant: string,
  memory: NodeMemory,
  node: Node,
  now: number,
): Promise<Node> {
  const ready = readyCondition(node)?.status
  if (ready === "Unknown") return node
  // A kubelet that reports itself not ready also reports its pods.
  memory.hasPodsToMark = ready === "True"
  const status = { ...node.status, conditions: silentConditions(node, now) }
  const written = await controller
    .client(tenant)
    .update<Node>(nodeResource, { ...node, status }, { subresource: "status" })
  if (memory.hasPodsToMark) {
    const text = `Node ${node.metadata.name ?? ""} status is now: NodeNotReady`
    controller.event(tenant, written, "Normal", "NodeNotReady", text)
  }
  return written
}

async function alignTaints(client: KubeClient, node: Node, evict: boolean, now: number): Promise<Node> {
  const taints = wantedTaints(node, evict, now)
  if (taints === undefined) return node
  const spec = { ...node.spec, taints }
  return client.update<Node>(nodeResource, { ...node, spec })
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
  const isReady = readyCondition(node)?.status === "True"
  if (isReady && counts(node)) return { evict: true, isAllDown: false }
  // If no node is ready, the observer is more likely to be at fault than the nodes: no pod is evicted.
  const zone = zoneOf(node)
  const nodes = all.map((other) => (other.metadata.name === node.metadata.name ? node : other)).filter(counts)
  const isAllDown = allDown(nodes)
  if (isAllDown) return { evict: false, isAllDown }
  if (isReady || isEvicting(node)) return { evict: true, isAllDown }
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
    if ((podCondition(pod, "Ready")?.status ?? "False") === "False") continue
    const conditions = (pod.status?.conditions ?? []).map((condition) =>
      condition.type === "Ready" ? { ...condition, status: "False", lastTransitionTime } : condition,
    )
    try {
      const status = { ...pod.status, conditions }
      await client.update<Pod>(podResource, { ...pod, status }, { subresource: "status" })
      controller.event(tenant, pod, "Warning", "NodeNotReady", "Node is not ready")
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}
