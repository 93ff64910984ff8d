// Deletes what nobody owns any more, and carries out foreground deletion and orphaning. Before anything is deleted, it and
// its owners are looked up live: the graph may be behind, or an owner never have been seen.
// Facts: k8s.io/kubernetes/pkg/controller/garbagecollector.

import { parseGroupVersion, type KubeObject, type OwnerReference } from "../../apimachinery/object.ts"
import { hasReason, isNotFound } from "../../apimachinery/status.ts"
import { EventRecorder } from "../../client/events.ts"
import type { DeleteOptions, KubeClient } from "../../client/rest.ts"
import { FairQueue } from "../../client/workqueue/fair-queue.ts"
import { runWorkers, TerminalError, type ReconcileResult } from "../../client/workqueue/workers.ts"
import { workersFor, type ControllerContext } from "../context.ts"
import { queueName } from "../queue-names.ts"
import { foregroundFinalizer, Graph, orphanFinalizer, type Node } from "./graph.ts"
import { Monitors } from "./monitors.ts"
import { OwnersElsewhere } from "./owners-elsewhere.ts"

interface Key {
  tenant: string
  uid: string
}

/** Until the graph of a tenant is complete, its keys wait; completion wakes them earlier. */
const incompleteMs = 1_000
const name = "garbage-collector"

export async function runGarbageCollector(ctx: ControllerContext): Promise<void> {
  const queue = new FairQueue<Key>({
    identify: ({ tenant, uid }) => `${tenant}/${uid}`,
    group: ({ tenant }) => tenant,
    maxWorking: (tenant) => workersFor(ctx, tenant),
    clock: ctx.clock,
    metrics: ctx.metrics?.queue(queueName(name)),
  })
  const collector = new Collector(ctx, queue)
  const { log, signal, workers } = ctx
  collector.start()
  const unregister = ctx.tenants.register(queue)
  await runWorkers({
    queue,
    workers,
    name,
    log,
    signal,
    reconcile: (key) => collector.attend(key),
  })
  unregister()
  queue[Symbol.dispose]()
}

class Collector {
  readonly #ctx: ControllerContext
  readonly #queue: FairQueue<Key>
  readonly #graphs = new Map<string, Graph>()
  readonly #waiting = new Map<string, Set<string>>()
  readonly #monitors: Monitors
  readonly #elsewhere: OwnersElsewhere

  constructor(ctx: ControllerContext, queue: FairQueue<Key>) {
    this.#ctx = ctx
    this.#queue = queue
    const { clock, log } = ctx
    this.#elsewhere = new OwnersElsewhere(
      new EventRecorder({ component: "garbage-collector-controller", clock, log }),
      log,
    )
    this.#monitors = new Monitors(ctx, {
      graph: (tenant) => this.#graph(tenant),
      complete: (tenant) => this.#release(tenant),
      removed: (tenant) => {
        this.#graphs.delete(tenant)
        this.#waiting.delete(tenant)
        this.#queue.removeGroup(tenant)
      },
    })
  }

  start(): void {
    this.#monitors.start()
  }

  async attend({ tenant, uid }: Key): Promise<ReconcileResult> {
    const graph = this.#graphs.get(tenant)
    const node = graph?.node(uid)
    if (graph === undefined || node === undefined || this.#ctx.tenants.get(tenant) === undefined) return
    if (!this.#monitors.isComplete(tenant)) {
      this.#waitingOf(tenant).add(uid)
      return { requeueAfterMs: incompleteMs }
    }
    const client = this.#ctx.tenants.client(tenant)
    if (node.orphansDependents) return this.#orphan(client, graph, node)
    if (node.deletesDependents) return this.#deleteDependents(tenant, client, graph, node)
    // On its way out already; its dependents follow when it is gone.
    if (node.isBeingDeleted) return
    await this.#collect(tenant, client, graph, node)
  }

  #graph(tenant: string): Graph {
    let graph = this.#graphs.get(tenant)
    if (graph === undefined) {
      graph = new Graph({
        attend: (uid) => this.#queue.add({ tenant, uid }),
        isThere: (owner, namespace) => this.#monitors.isThere(tenant, owner, namespace),
      })
      this.#graphs.set(tenant, graph)
    }
    return graph
  }

  #waitingOf(tenant: string): Set<string> {
    let waiting = this.#waiting.get(tenant)
    if (waiting === undefined) this.#waiting.set(tenant, (waiting = new Set()))
    return waiting
  }

  #release(tenant: string): void {
    const waiting = this.#waiting.get(tenant)
    this.#waiting.delete(tenant)
    for (const uid of waiting ?? []) this.#queue.add({ tenant, uid })
  }

  /** The object as it is now; undefined: it is gone, which the graph is told. */
  async #latest(client: KubeClient, graph: Graph, node: Node): Promise<KubeObject | undefined> {
    try {
      const latest = await client.get(node.resource, node.namespace, node.name)
      if (latest.metadata.uid === node.uid) return latest
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
    graph.gone(node.uid)
    return undefined
  }

  async #collect(tenant: string, client: KubeClient, graph: Graph, node: Node): Promise<void> {
    const latest = await this.#latest(client, graph, node)
    const owners = latest?.metadata.ownerReferences ?? []
    if (latest === undefined || owners.length === 0) return
    const { solid, dangling, waiting } = await this.#classify(tenant, client, graph, node, owners)
    if (solid.length > 0) {
      const superfluous = [...dangling, ...waiting].map(({ uid }) => uid)
      if (superfluous.length > 0) await removeOwners(client, node, latest, superfluous)
      return
    }
    if (waiting.length > 0 && graph.hasDependents(node.uid)) {
      // A circle of foreground deletions would never end: this one stops blocking its owners.
      if (graph.dependents(node.uid).some((dependent) => dependent.deletesDependents)) {
        await unblockOwners(client, node, latest)
      }
      await remove(client, graph, node, { uid: node.uid, propagationPolicy: "Foreground" })
      return
    }
    const finalizers = latest.metadata.finalizers ?? []
    const propagationPolicy = finalizers.includes(orphanFinalizer)
      ? "Orphan"
      : finalizers.includes(foregroundFinalizer)
        ? "Foreground"
        : "Background"
    const { resourceVersion } = latest.metadata
    // What the decision was based on must still be so: its owners may have changed meanwhile.
    const precondition = { uid: node.uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) }
    await remove(client, graph, node, { ...precondition, propagationPolicy })
  }

  async #classify(
    tenant: string,
    client: KubeClient,
    graph: Graph,
    node: Node,
    owners: readonly OwnerReference[],
  ): Promise<Record<"solid" | "dangling" | "waiting", OwnerReference[]>> {
    const classes: Record<"solid" | "dangling" | "waiting", OwnerReference[]> = { solid: [], dangling: [], waiting: [] }
    for (const reference of owners) {
      const owner = await this.#lookUp(tenant, client, graph, node, reference)
      if (owner === undefined) classes.dangling.push(reference)
      else {
        const { deletionTimestamp, finalizers = [] } = owner.metadata
        const isWaiting = deletionTimestamp !== undefined && finalizers.includes(foregroundFinalizer)
        classes[isWaiting ? "waiting" : "solid"].push(reference)
      }
    }
    return classes
  }

  async #lookUp(
    tenant: string,
    client: KubeClient,
    graph: Graph,
    node: Node,
    reference: OwnerReference,
  ): Promise<KubeObject | undefined> {
    if (graph.known(reference, node.namespace) === "absent") return undefined
    const { group } = parseGroupVersion(reference.apiVersion)
    const resource = this.#monitors.resourceOf(tenant, group, reference.kind)
    if (resource === undefined) {
      // It may be defined later; until then the owner counts neither as there nor as absent.
      throw new Error(`no resource is known of ${reference.apiVersion} ${reference.kind}, owner of ${print(node)}`)
    }
    const lookElsewhere = (): void => {
      if (graph.wasFound(reference.uid)) return
      this.#elsewhere.look(tenant, client, resource, { dependent: node, reference })
    }
    if (resource.namespaced && node.namespace === undefined) {
      lookElsewhere()
      throw new TerminalError(`${print(node)} has no namespace, but its owner "${reference.name}" has`)
    }
    // A namespaced owner is looked for beside the dependent: owners in other namespaces do not exist.
    const namespace = resource.namespaced ? node.namespace : undefined
    let owner: KubeObject | undefined
    try {
      owner = await client.get(resource, namespace, reference.name)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
    const exists = owner?.metadata.uid === reference.uid
    if (!exists && resource.namespaced) lookElsewhere()
    graph.learn(reference, node.namespace, exists)
    return exists ? owner : undefined
  }

  async #deleteDependents(tenant: string, client: KubeClient, graph: Graph, node: Node): Promise<void> {
    const latest = await this.#latest(client, graph, node)
    if (latest === undefined) return
    const blocking = graph.blocking(node.uid)
    if (blocking.length === 0) {
      await removeFinalizer(client, node, latest, foregroundFinalizer)
      return
    }
    for (const dependent of blocking) {
      if (!dependent.deletesDependents) this.#queue.add({ tenant, uid: dependent.uid })
    }
  }

  async #orphan(client: KubeClient, graph: Graph, node: Node): Promise<void> {
    const latest = await this.#latest(client, graph, node)
    if (latest === undefined) return
    await Promise.all(
      graph.dependents(node.uid).map(async (dependent) => {
        const object = await this.#latest(client, graph, dependent)
        if (object !== undefined) await removeOwners(client, dependent, object, [node.uid])
      }),
    )
    await removeFinalizer(client, node, latest, orphanFinalizer)
  }
}

async function remove(client: KubeClient, graph: Graph, node: Node, options: DeleteOptions): Promise<void> {
  try {
    await client.delete(node.resource, node.namespace, node.name, options)
  } catch (error) {
    if (!isNotFound(error)) throw error
    graph.gone(node.uid)
  }
}

async function removeOwners(
  client: KubeClient,
  node: Node,
  latest: KubeObject,
  uids: readonly string[],
): Promise<void> {
  const owners = latest.metadata.ownerReferences ?? []
  const removed = new Set(uids)
  const rest = owners.filter((owner) => !removed.has(owner.uid))
  if (rest.length < owners.length)
    await patch(client, node, latest, { ownerReferences: rest.length === 0 ? null : rest })
}

/** Upstream says so of all owners where it cannot patch lists item by item: of custom resources. */
async function unblockOwners(client: KubeClient, node: Node, latest: KubeObject): Promise<void> {
  const { ownerReferences = [] } = latest.metadata
  const unblocked = (owner: OwnerReference): OwnerReference => ({ ...owner, blockOwnerDeletion: false })
  const blocking = ownerReferences.map((owner) => (owner.blockOwnerDeletion === true ? unblocked(owner) : owner))
  try {
    await patch(client, node, latest, { ownerReferences: blocking }, "strategic")
  } catch (error) {
    if (!hasReason(error, "UnsupportedMediaType")) throw error
    await patch(client, node, latest, { ownerReferences: ownerReferences.map(unblocked) })
  }
}

async function removeFinalizer(client: KubeClient, node: Node, latest: KubeObject, finalizer: string): Promise<void> {
  const finalizers = latest.metadata.finalizers ?? []
  if (!finalizers.includes(finalizer)) return
  const rest = finalizers.filter((other) => other !== finalizer)
  await patch(client, node, latest, { finalizers: rest.length === 0 ? null : rest })
}

async function patch(
  client: KubeClient,
  node: Node,
  { metadata }: KubeObject,
  changes: object,
  type: "merge" | "strategic" = "merge",
): Promise<void> {
  const { uid, resourceVersion } = metadata
  try {
    const body = { metadata: { uid, resourceVersion, ...changes } }
    await client.patch(node.resource, node.namespace, node.name, body, { type })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

function print({ resource, namespace, name }: Node): string {
  return `${resource.resource} "${namespace === undefined ? name : `${namespace}/${name}`}"`
}
