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
import type { TenantInformer } from "../../client/informers/tenant-informer.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"
import { outOfService, readyCondition } from "../node-lifecycle/taints.ts"
import { isFinished, isTerminating } from "../pods/pod-state.ts"
import { failAndDelete, isDisrupted } from "../pods/status-condition.ts"
import { settleInOrder } from "../settle-all.ts"

/** How long a node may be missing before its pods are deleted. */
const nodeGoneGraceMs = 40_000
/** The key for the finished pods of a tenant; not a valid node name. */
const finishedKey = ":finished"

const gone = { reason: "DeletionByPodGC", message: "PodGC: node no longer exists" }

export function runPodGarbageCollector(ctx: ControllerContext): Promise<void> {
  return new PodGarbageCollector(ctx).run()
}

class PodGarbageCollector {
  readonly #ctx: ControllerContext
  readonly #nodes: TenantInformer<Node>
  readonly #pods: TenantInformer<Pod>
  readonly #controller: Controller<Node>
  /** When nodes with pods were first found missing, by "tenant/name". */
  readonly #missing = new Map<string, number>()
  /** Deleted nodes of the tenants' own, with pods on them: even finished pods are deleted. By "tenant/name". */
  readonly #departed = new Set<string>()
  /** Number of finished pods per tenant. */
  readonly #finished = new Map<string, number>()

  constructor(ctx: ControllerContext) {
    this.#ctx = ctx
    const nodes = (this.#nodes = ctx.informers.of<Node>(nodeResource))
    const pods = (this.#pods = ctx.informers.of<Pod>(podResource))
    this.#controller = new Controller<Node>(ctx, {
      name: "pod-garbage-collector",
      primary: nodes,
      concerns: isOutOfService,
      reads: [pods],
      others: (tenant) => this.#due(tenant),
      forget: (tenant) => this.#forget(tenant),
    })
    pods.subscribe({
      added: (tenant, pod) => {
        this.#count(tenant, Number(isFinished(pod)))
        this.#look(tenant, pod)
      },
      updated: (tenant, pod, previous) => {
        this.#count(tenant, Number(isFinished(pod)) - Number(isFinished(previous)))
        this.#look(tenant, pod)
      },
      deleted: (tenant, pod) => this.#count(tenant, -Number(isFinished(pod))),
      asleep: (tenant) => void this.#finished.delete(tenant),
    })
    nodes.subscribe({
      deleted: (tenant, node) => {
        const { name = "" } = node.metadata
        const hasPods = pods.byIndex(tenant, "node", name).length > 0
        if (hasPods && !isVirtualNode(node)) this.#departed.add(`${tenant}/${name}`)
      },
    })
  }

  run(): Promise<void> {
    return this.#controller.run((key, actor) => this.#reconcile(key, actor))
  }

  #forget(tenant: string): void {
    this.#finished.delete(tenant)
    for (const ids of [this.#missing, this.#departed]) {
      for (const id of ids.keys()) if (id.startsWith(`${tenant}/`)) ids.delete(id)
    }
  }

  #count(tenant: string, change: number): void {
    if (change === 0) return
    const now = (this.#finished.get(tenant) ?? 0) + change
    this.#finished.set(tenant, now)
    if (this.#hasTooMany(tenant)) this.#controller.enqueue(tenant, undefined, finishedKey)
  }

  #hasTooMany(tenant: string): boolean {
    return (this.#finished.get(tenant) ?? 0) > this.#ctx.limits.finishedPods
  }

  #look(tenant: string, pod: Pod): void {
    const key = this.#keyFor(tenant, pod)
    if (key !== undefined) this.#controller.enqueue(tenant, key.namespace, key.name)
  }

  *#due(tenant: string): Generator<Omit<Key, "tenant">> {
    if (this.#hasTooMany(tenant)) yield { namespace: "", name: finishedKey }
    for (const pod of this.#pods.list(tenant)) {
      const key = this.#keyFor(tenant, pod)
      if (key !== undefined) yield key
    }
  }

  /** The pod or its node, if there may be something to delete. */
  #keyFor(tenant: string, pod: Pod): Omit<Key, "tenant"> | undefined {
    const { nodeName = "" } = pod.spec ?? {}
    if (nodeName === "") {
      const { namespace = "", name = "" } = pod.metadata
      return isTerminating(pod) ? { namespace, name } : undefined
    }
    const node = this.#nodes.get(tenant, undefined, nodeName)
    const isLost = node === undefined ? !isRecord(pod) : isTerminating(pod) && isOutOfService(node)
    return isLost ? { namespace: "", name: nodeName } : undefined
  }

  async #reconcile({ tenant, namespace, name }: Key, actor: Actor): Promise<ReconcileResult> {
    if (namespace !== "") return this.#reconcilePod(actor, namespace, name)
    if (name === finishedKey) return this.#deleteOldest(actor)
    const node = this.#nodes.get(tenant, undefined, name)
    return node === undefined ? this.#reconcileMissing(actor, name) : this.#reconcilePresent(actor, name, node)
  }

  async #reconcilePod(actor: Actor, namespace: string, name: string): Promise<void> {
    const pod = this.#pods.get(actor.tenant, namespace, name)
    const isUnscheduled = pod !== undefined && isTerminating(pod) && (pod.spec?.nodeName ?? "") === ""
    if (isUnscheduled) await this.#delete(actor, [pod])
  }

  async #deleteOldest(actor: Actor): Promise<void> {
    const finished = this.#pods.list(actor.tenant).filter(isFinished)
    const surplus = finished.length - this.#ctx.limits.finishedPods
    if (surplus > 0) await this.#delete(actor, byWorth(finished).slice(0, surplus))
  }

  async #reconcilePresent(actor: Actor, name: string, node: Node): Promise<void> {
    this.#settle(actor.tenant, name)
    if (isOutOfService(node)) await this.#delete(actor, this.#podsOn(actor.tenant, name).filter(isTerminating))
  }

  async #reconcileMissing(actor: Actor, name: string): Promise<ReconcileResult> {
    const { tenant } = actor
    const id = `${tenant}/${name}`
    const onNode = this.#podsOn(tenant, name)
    // A virtual node is deleted with its node in the super cluster, which must not delete records of a tenant: finished pods stay.
    const orphans = this.#departed.has(id) ? onNode : onNode.filter((pod) => !isRecord(pod))
    if (orphans.length === 0) return this.#settle(tenant, name)
    const now = this.#ctx.clock.elapsed()
    const since = this.#missing.get(id) ?? now
    this.#missing.set(id, since)
    const wait = since + nodeGoneGraceMs - now
    if (wait > 0) return { requeueAfterMs: wait }
    if (!(await exists(actor.client, name))) await this.#delete(actor, orphans, gone)
    this.#settle(tenant, name)
  }

  /** Nothing is remembered of the node. */
  #settle(tenant: string, name: string): void {
    this.#missing.delete(`${tenant}/${name}`)
    this.#departed.delete(`${tenant}/${name}`)
  }

  #podsOn(tenant: string, node: string): readonly Pod[] {
    return this.#pods.byIndex(tenant, "node", node)
  }

  async #delete(actor: Actor, pods: readonly Pod[], why?: typeof gone): Promise<void> {
    const now = this.#ctx.clock.now()
    const failure = await settleInOrder(pods, (pod) => failAndDelete(actor.client, pod, why, now))
    if (failure !== undefined) throw failure
  }
}

/** A finished pod, unless it was failed here and could not be deleted afterwards. */
function isRecord(pod: Pod): boolean {
  return isFinished(pod) && !isDisrupted(pod, gone.reason)
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
function byWorth(pods: readonly Pod[]): Pod[] {
  const ranked = pods.map((pod): [rank: string, Pod] => {
    const { metadata, status } = pod
    const evicted = status?.phase === "Failed" && status.reason === "Evicted" ? 0 : 1
    return [`${evicted} ${metadata.creationTimestamp ?? ""} ${metadata.name ?? ""}`, pod]
  })
  return ranked.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, pod]) => pod)
}
