// Preemption among the pods of one tenant. Super's scheduler treats the pods of all tenants alike; otherwise one tenant's priorities
// would evict another tenant's pods. When super finds no node for a pod, this checks whether pods of lower priority of the same tenant
// are in the way, and evicts the fewest and least important of them, as the tenant's scheduler would: in the tenant, where their
// controllers see it. Meanwhile the node is reserved for the pod (status.nominatedNodeName): resources/pod/placement.ts keeps pods of
// lower priority off it.
//
// Resources, the number of pods and host ports are considered. If these suffice on a node, the pod is rejected there for another
// reason, which evictions may not resolve, so none are made. Source: k8s.io/kubernetes/pkg/scheduler/framework/preemption.
// Not implemented: PodDisruptionBudgets, which upstream also violates if there is no other way.

import { isFinished } from "../apimachinery/core/pod-phase.ts"
import { matchesNode, toleranceOf, toleratesTaints } from "../apimachinery/core/node-selection.ts"
import { timestamp, type Node, type Pod } from "../apimachinery/object.ts"
import { isConflict, isNotFound } from "../apimachinery/status.ts"
import { superNamespace, uidAnnotation } from "../apimachinery/tenancy.ts"
import type { Clock } from "../client/clock.ts"
import type { EventRecorder } from "../client/events.ts"
import { nodes, pods } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import type { Tenant, Tenants, TenantUse } from "../client/tenants.ts"
import type { Outcome } from "./controller.ts"
import { recordedOwner } from "./conversion/ownership.ts"
import { inTenant } from "./failures.ts"
import { keyOf, type SyncKey } from "./keys.ts"
import { syncerLimits } from "./options.ts"
import { PreemptionTurns } from "./preemption-turns.ts"
import { chooseVictims, least, priorityOf, type Room } from "./preemption-victims.ts"
import type { SyncContext } from "./resources/resource-sync.ts"
import { isNominated } from "./resources/pod/status.ts"

interface PreemptionParts {
  tenants: Tenants
  superClient: KubeClient
  clock: Clock
  events: EventRecorder
  contextOf(tenant: Tenant): SyncContext
}

const message = "preempting to accommodate a higher priority pod"

export class Preemption {
  readonly #parts: PreemptionParts
  /** By the pod's key: when its nomination was first seen. Removed when the pod no longer waits. */
  readonly #nominatedAt = new Map<string, number>()
  readonly #turns: PreemptionTurns

  constructor(parts: PreemptionParts) {
    this.#parts = parts
    this.#turns = new PreemptionTurns(parts.clock)
  }

  /** Of each of the tenant's pods, the key if it waits for room. */
  *waiting({ name: tenant, clusterKey }: Tenant, { view }: SyncContext): Generator<SyncKey | undefined> {
    for (const pod of view.tenantObjects<Pod>(pods)) {
      const { namespace = "", name = "" } = pod.metadata
      const superPod = view.superObject<Pod>(pods, superNamespace(clusterKey, namespace), name)
      const isWaiting = superPod !== undefined && waitsForRoom(pod, superPod)
      yield isWaiting ? keyOf(tenant, pods, namespace, name) : undefined
    }
  }

  /** Called after a pod has been reconciled. */
  async consider(tenant: Tenant, namespace: string, name: string, use?: TenantUse): Promise<Outcome> {
    const context = this.#parts.contextOf(tenant)
    const pod = context.view.tenantObject<Pod>(pods, namespace, name)
    const superPod = context.view.superObject<Pod>(pods, superNamespace(tenant.clusterKey, namespace), name)
    const key = `${tenant.name} ${namespace}/${name}`
    if (pod === undefined || superPod === undefined || !waitsForRoom(pod, superPod)) {
      this.#nominatedAt.delete(key)
      this.#turns.forgetPod(key)
      return
    }
    const again = { requeueAfterMs: syncerLimits.preemptionRetryMs, recurs: true }
    if (isNominated(pod)) {
      if (this.#isUnderWay(key)) return again
      // The preemption did not help: the node is available to other pods again.
      this.#nominatedAt.delete(key)
      await nominate(this.#parts.tenants.client(tenant, use), pod, null)
      return again
    }
    const early = this.#turns.wait(key)
    if (early > 0) return { requeueAfterMs: early, recurs: true }
    const placed = context.view
      .tenantObjects<Pod>(pods)
      .filter(
        (other) => (other.spec?.nodeName ?? "") !== "" && !isFinished(other) && priorityOf(other) < priorityOf(pod),
      )
    if (placed.length === 0) return
    const wait = this.#turns.take(tenant.name, key)
    if (wait > 0) return { requeueAfterMs: wait, recurs: true }
    const rooms: Room[] = []
    for (const node of candidates(superPod, placed, context)) {
      const room = await this.#roomOn(node, superPod, placed)
      // Pods are being deleted already.
      if (room === "soon") return again
      if (room !== undefined) rooms.push(room)
    }
    const room = least(rooms)
    if (room !== undefined) {
      this.#nominatedAt.set(key, this.#parts.clock.elapsed())
      await this.#makeRoom(tenant, this.#parts.tenants.client(tenant, use), pod, room)
    }
    return again
  }

  /** Discards the state of a removed tenant. */
  forget(tenant: string): void {
    const prefix = `${tenant} `
    this.#turns.forgetTenant(tenant, prefix)
    for (const key of this.#nominatedAt.keys()) if (key.startsWith(prefix)) this.#nominatedAt.delete(key)
  }

  #isUnderWay(key: string): boolean {
    const now = this.#parts.clock.elapsed()
    // After a restart the period starts again.
    const since = this.#nominatedAt.get(key) ?? now
    this.#nominatedAt.set(key, since)
    return now - since < syncerLimits.nominationMs
  }

  async #roomOn(node: Node, superPod: Pod, placed: readonly Pod[]): Promise<Room | "soon" | undefined> {
    const { name = "" } = node.metadata
    const { items } = await this.#parts.superClient.list<Pod>(pods, { fieldSelector: `spec.nodeName=${name}` })
    const there = items.filter((one) => one.spec?.nodeName === name && !isFinished(one))
    const byUID = new Map(placed.map((one) => [one.metadata.uid ?? "", one]))
    const lower = new Map<Pod, Pod>()
    for (const copy of there) {
      const own = byUID.get(copy.metadata.annotations?.[uidAnnotation] ?? "")
      if (own !== undefined && recordedOwner(copy)?.clusterKey === recordedOwner(superPod)?.clusterKey)
        lower.set(copy, own)
    }
    return chooseVictims({ node, pod: superPod, there, lower })
  }

  async #makeRoom(tenant: Tenant, client: KubeClient, pod: Pod, { node, victims }: Room): Promise<void> {
    const { clock, events } = this.#parts
    // Set before the evictions, so that the victims' replacements find the node reserved.
    await nominate(client, pod, node)
    for (const victim of victims) {
      const { namespace, name = "", uid = "" } = victim.metadata
      const others = (victim.status?.conditions ?? []).filter(({ type }) => type !== "DisruptionTarget")
      const condition = {
        type: "DisruptionTarget",
        status: "True",
        reason: "PreemptionByScheduler",
        message: `${pod.spec?.schedulerName ?? "default-scheduler"}: ${message}`,
        lastTransitionTime: timestamp(new Date(clock.now())),
        observedGeneration: victim.metadata.generation,
      }
      const text = `Preempted by pod ${pod.metadata.uid ?? ""} on node ${node}`
      events.event(client, { ...victim, apiVersion: "v1", kind: "Pod" }, "Normal", "Preempted", text, tenant.name)
      const patch = { metadata: { uid }, status: { conditions: [...others, condition] } }
      try {
        await inTenant(client.patch(pods, namespace, name, patch, { type: "merge", subresource: "status" }))
        await inTenant(client.delete(pods, namespace, name, { uid }))
      } catch (error) {
        // Already gone, which serves the same purpose.
        if (!isNotFound(error) && !isConflict(error)) throw error
      }
    }
  }
}

async function nominate(client: KubeClient, { metadata }: Pod, node: string | null): Promise<void> {
  const { namespace, name = "", uid } = metadata
  const patch = { metadata: { uid }, status: { nominatedNodeName: node } }
  await inTenant(client.patch(pods, namespace, name, patch, { type: "merge", subresource: "status" }))
}

/** Super's scheduler reported that it found no node, and the pod may preempt others. */
function waitsForRoom(pod: Pod, superPod: Pod): boolean {
  const scheduled = superPod.status?.conditions?.find(({ type }) => type === "PodScheduled")
  return (
    pod.metadata.deletionTimestamp === undefined &&
    superPod.metadata.deletionTimestamp === undefined &&
    (superPod.spec?.nodeName ?? "") === "" &&
    scheduled?.status === "False" &&
    scheduled.reason === "Unschedulable" &&
    pod.spec?.preemptionPolicy !== "Never"
  )
}

/** Nodes that accept the pod and run pods of lower priority; the one with the lowest priority first. */
function candidates(superPod: Pod, placed: readonly Pod[], { view }: SyncContext): Node[] {
  const lowest = new Map<string, number>()
  for (const other of placed) {
    const name = other.spec?.nodeName ?? ""
    lowest.set(name, Math.min(lowest.get(name) ?? Number.POSITIVE_INFINITY, priorityOf(other)))
  }
  const tolerationOf = toleranceOf(superPod.spec?.tolerations)
  return [...lowest]
    .sort(([, a], [, b]) => a - b)
    .map(([name]) => view.superObject<Node>(nodes, undefined, name))
    .filter((node) => node !== undefined)
    .filter((node) => node.spec?.unschedulable !== true && matchesNode(superPod.spec, node))
    .filter((node) => toleratesTaints(tolerationOf, node.spec?.taints))
    .slice(0, syncerLimits.preemptionCandidates)
}
