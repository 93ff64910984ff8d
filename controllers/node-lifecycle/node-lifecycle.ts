// Marks nodes that stop reporting as unknown, taints unhealthy nodes, and marks their pods as not ready. Virtual nodes are
// skipped: they show nodes of the super cluster, which makes these decisions.
// Source: k8s.io/kubernetes/pkg/controller/nodelifecycle.

import { timestamp, type Node, type Pod } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { isVirtualNode } from "../../apimachinery/tenancy.ts"
import { leases, nodes as nodeResource, pods as podResource } from "../../client/resources.ts"
import type { TenantInformer } from "../../client/informers/tenant-informer.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"
import { podCondition } from "../pods/pod-state.ts"
import { settleInOrder } from "../settle-all.ts"
import { inherited, observe, silentConditions, silentInMs, type Health, type Lease } from "./health.ts"
import { outdatedLabels } from "./labels.ts"
import { type Eviction, isEvicting, isEvictingOtherwise, readyCondition, taintSteps } from "./taints.ts"
import { EvictionPace, NodeCounts, zoneOf } from "./zones.ts"

const merge = { type: "merge" } as const
/** How often a Lease is looked at: it is not known when it was renewed, but since when it has not been. */
const leaseMs = 10_000
/** Of so many deleted nodes of a tenant it is remembered when they were last heard of. */
const mostDeleted = 1_000

interface NodeMemory {
  /** Reference to the node for the event about its removal. The object itself is not kept while the tenant sleeps. */
  reference: Node
  health: Health | undefined
  /** No node was ready at the last reconcile; undefined: there was none. */
  wasAllDown: boolean | undefined
  /** It has been tainted for its state since it was ready: what users write into that taint stays. */
  isTainted: boolean
  /** The node has stopped reporting, and its pods are not marked as not ready yet. */
  hasPodsToMark: boolean
}

interface TenantMemory {
  nodes: Map<string, NodeMemory>
  /** Of deleted nodes, the first deleted first. */
  deleted: Map<string, Health>
  pace: EvictionPace
  /** undefined: it has slept since they were counted. */
  counts: NodeCounts | undefined
}

interface Parts {
  ctx: ControllerContext
  controller: Controller<Node>
  nodes: TenantInformer<Node>
  /** By tenant. */
  memories: Map<string, TenantMemory>
}

export function runNodeLifecycle(ctx: ControllerContext): Promise<void> {
  const nodes = ctx.informers.of<Node>(nodeResource)
  const pods = ctx.informers.of<Pod>(podResource)
  const memories = new Map<string, TenantMemory>()
  const controller = new Controller<Node>(ctx, {
    name: "node-lifecycle",
    eventSource: "node-controller",
    primary: nodes,
    concerns: (node) => !isVirtualNode(node),
    reads: [pods],
    forget: (tenant) => memories.delete(tenant),
  })
  const counted = (tenant: string, node: Node): void => {
    // Evictions from the other nodes depend on it.
    if (memories.get(tenant)?.counts?.set(node) === true) controller.enqueueAll(tenant)
  }
  nodes.subscribe({
    added: counted,
    updated: counted,
    deleted(tenant, { metadata: { name = "" } }) {
      if (memories.get(tenant)?.counts?.delete(name) === true) controller.enqueueAll(tenant)
    },
    asleep(tenant) {
      const memory = memories.get(tenant)
      if (memory !== undefined) memory.counts = undefined
    },
  })
  const parts: Parts = { ctx, controller, nodes, memories }
  return controller.run((key, actor) => reconcile(parts, actor, key))
}

async function reconcile(parts: Parts, actor: Actor, key: Key): Promise<ReconcileResult> {
  const { tenant, name } = key
  const { ctx, controller } = parts
  const cached = parts.nodes.get(tenant, undefined, name)
  if (cached === undefined || isVirtualNode(cached)) return forgetNode(parts, actor, name)
  const now = ctx.clock.now()
  const ofTenant = memoryOf(parts, tenant)
  const memory = ofTenant.nodes.get(name) ?? registerNode(parts, actor, ofTenant, cached)
  // Before anything is waited for: all nodes are known now.
  const counts = (ofTenant.counts ??= new NodeCounts(parts.nodes.list(tenant)))
  const client = actor.client
  const health = observe(memory.health, cached, await leaseOf(client, name), ctx.clock)
  memory.health = health
  let node = await alignLabels(client, cached)
  // What evicts the pods of a new node is taken off at once, as upstream: it is evicted in its turn, unless it goes from one state to another.
  const isNew = memory.wasAllDown === undefined
  const changes = isNew && isEvictingOtherwise(node)
  if (isNew && isEvicting(node)) node = await alignTaints(client, node, { evict: false }, now)
  const silentMs = silentInMs(node, health, ctx.clock.elapsed())
  if (silentMs === 0) node = await markSilent(actor, memory, node, now)
  // It may have been deleted while something was waited for.
  const isThere = parts.nodes.get(tenant, undefined, name)?.metadata.uid === node.metadata.uid
  if (isThere && counts.set(node)) controller.enqueueAll(tenant)
  const { isAllDown } = counts
  const turn = mayEvict(counts, node, { ...memory, changes }, ofTenant.pace, ctx.clock.elapsed())
  node = await alignTaints(client, node, turn, now)
  memory.wasAllDown = isAllDown
  memory.isTainted = turn.isNew === true || (memory.isTainted && turn.evict)
  const ready = readyCondition(node)?.status
  // Its turn to be evicted comes also while its pods cannot be marked.
  if (turn.waitMs !== undefined) controller.enqueueAfter(key, turn.waitMs)
  if (memory.hasPodsToMark && ready !== "True") await markPods(ctx, actor, name)
  memory.hasPodsToMark = false
  const times = [turn.waitMs, ready === "Unknown" ? undefined : Math.max(1, Math.min(silentMs, leaseMs))]
  const next = Math.min(...times.filter((ms) => ms !== undefined))
  return next === Number.POSITIVE_INFINITY ? undefined : { requeueAfterMs: next }
}

function memoryOf({ memories }: Parts, tenant: string): TenantMemory {
  const known = memories.get(tenant)
  if (known !== undefined) return known
  const created: TenantMemory = { nodes: new Map(), deleted: new Map(), pace: new EvictionPace(), counts: undefined }
  memories.set(tenant, created)
  return created
}

function registerNode({ ctx }: Parts, actor: Actor, { nodes, deleted }: TenantMemory, node: Node): NodeMemory {
  const { name = "" } = node.metadata
  const former = deleted.get(name)
  deleted.delete(name)
  const memory: NodeMemory = {
    reference: referenceTo(node),
    health: former && inherited(former, ctx.clock.elapsed()),
    wasAllDown: undefined,
    isTainted: false,
    hasPodsToMark: false,
  }
  recordNodeEvent(actor, node, "RegisteredNode", `Registered Node ${name} in Controller`)
  nodes.set(name, memory)
  return memory
}

function forgetNode({ memories }: Parts, actor: Actor, name: string): void {
  const ofTenant = memories.get(actor.tenant)
  const known = ofTenant?.nodes.get(name)
  if (ofTenant === undefined || known === undefined) return
  ofTenant.nodes.delete(name)
  if (known.health !== undefined) ofTenant.deleted.set(name, known.health)
  const [first] = ofTenant.deleted.keys()
  if (first !== undefined && ofTenant.deleted.size > mostDeleted) ofTenant.deleted.delete(first)
  recordNodeEvent(actor, known.reference, "RemovingNode", `Removing Node ${name} from Controller`)
}

/** Returns the node as it is stored afterwards, as do markSilent and alignTaints. */
async function alignLabels(client: KubeClient, node: Node): Promise<Node> {
  const labels = outdatedLabels(node)
  if (labels === undefined) return node
  return client.patch<Node>(nodeResource, undefined, node.metadata.name ?? "", { metadata: { labels } }, merge)
}

/** For a node whose grace period has ended. */
async function markSilent(actor: Actor, memory: NodeMemory, node: Node, now: number): Promise<Node> {
  const ready = readyCondition(node)?.status
  if (ready === "Unknown") return node
  // A kubelet that reports itself not ready also reports its pods.
  memory.hasPodsToMark = ready === "True"
  const status = { ...node.status, conditions: silentConditions(node, now) }
  const written = await actor.client.update<Node>(nodeResource, { ...node, status }, { subresource: "status" })
  if (memory.hasPodsToMark) {
    const text = `Node ${node.metadata.name ?? ""} status is now: NodeNotReady`
    actor.event(written, "Normal", "NodeNotReady", text)
  }
  return written
}

async function alignTaints(client: KubeClient, node: Node, eviction: Eviction, now: number): Promise<Node> {
  let written = node
  for (const taints of taintSteps(node, eviction, now)) {
    written = await client.update<Node>(nodeResource, { ...written, spec: { ...written.spec, taints } })
  }
  return written
}

function referenceTo({ metadata: { name = "", uid = "" } }: Node): Node {
  return { apiVersion: "v1", kind: "Node", metadata: { name, uid } }
}

function recordNodeEvent(actor: Actor, node: Node, reason: string, what: string): void {
  actor.event(node, "Normal", reason, `Node ${node.metadata.name} event: ${what}`)
}

/** `waitMs`: evict after this delay. Otherwise this is checked again when what is decided for the zone or for all changes. */
function mayEvict(
  counts: NodeCounts,
  node: Node,
  { wasAllDown, isTainted, changes }: NodeMemory & { changes: boolean },
  pace: EvictionPace,
  now: number,
): Eviction & { waitMs?: number } {
  const ready = readyCondition(node)?.status
  const rate = counts.isAllDown ? 0 : counts.rateOf(zoneOf(node))
  pace.follow(zoneOf(node), rate, now)
  if (ready === "True") return { evict: false }
  // If no node is ready, the observer is more likely to be at fault than the nodes: all evictions end. What a user adds then stays.
  if (counts.isAllDown && wasAllDown !== true) return { evict: false }
  if (ready === undefined) return { evict: true }
  if (changes) return { evict: true, isNew: true }
  if (isEvicting(node)) return { evict: true, isNew: !isTainted && rate > 0 }
  if (rate === 0) return { evict: false }
  const waitMs = pace.take(zoneOf(node), now)
  return waitMs === 0 ? { evict: true, isNew: true } : { evict: false, waitMs }
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
async function markPods(ctx: ControllerContext, actor: Actor, name: string): Promise<void> {
  const lastTransitionTime = timestamp(new Date(ctx.clock.now()))
  const onNode = ctx.informers.of<Pod>(podResource).byIndex(actor.tenant, "node", name)
  const ready = onNode.filter((pod) => (podCondition(pod, "Ready")?.status ?? "False") !== "False")
  const failure = await settleInOrder(ready, async (pod) => {
    const conditions = (pod.status?.conditions ?? []).map((condition) =>
      condition.type === "Ready" ? { ...condition, status: "False", lastTransitionTime } : condition,
    )
    const notReady = (): void => actor.event(pod, "Warning", "NodeNotReady", "Node is not ready")
    try {
      const status = { ...pod.status, conditions }
      await actor.client.update<Pod>(podResource, { ...pod, status }, { subresource: "status" })
      notReady()
    } catch (error) {
      if (isNotFound(error)) return
      notReady()
      throw error
    }
  })
  if (failure !== undefined) throw failure
}
