// Deletes objects whose owners are gone, and carries out foreground deletion and orphaning. Before it deletes an object, it reads
// the object and its owners from the API: the graph may be stale, or may never have contained an owner.
// Source: k8s.io/kubernetes/pkg/controller/garbagecollector.

import { parseGroupVersion, type KubeObject, type OwnerReference } from "../../apimachinery/object.ts"
import { unexplained } from "../../apimachinery/status.ts"
import { inTurns } from "../../client/in-turns.ts"
import type { DiscoveredResource, KubeClient } from "../../client/rest.ts"
import { TerminalError, type ReconcileResult, type Untried } from "../../client/workqueue/workers.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { Frame } from "../frame.ts"
import { roundPauseMs } from "../round-pause.ts"
import { settleAll } from "../settle-all.ts"
import { isAbsence } from "./absence.ts"
import { foregroundFinalizer, Graph, orphanFinalizer } from "./graph.ts"
import { Monitors } from "./monitors.ts"
import { type Dependents, isBlocking, type Node } from "./node.ts"
import { OwnersElsewhere } from "./owners-elsewhere.ts"
import { remove, removeFinalizer, removeOwners, unblockOwners } from "./writes.ts"

interface Key {
  tenant: string
  uid: string
  /** These of the object are to be reconciled, not itself. */
  dependents?: Dependents
}

export function runGarbageCollector(ctx: ControllerContext): Promise<void> {
  return new Collector(ctx).run()
}

class Collector {
  readonly #frame: Frame<Key>
  readonly #graphs = new Map<string, Graph>()
  /** By tenant, the uids that wait until its graph is complete. */
  readonly #waiting = new Map<string, Set<string>>()
  readonly #monitors: Monitors
  readonly #elsewhere: OwnersElsewhere

  constructor(ctx: ControllerContext) {
    this.#elsewhere = new OwnersElsewhere(ctx.log)
    this.#monitors = new Monitors(ctx, {
      graph: (tenant) => this.#graph(tenant),
      complete: (tenant) => {
        this.#release(tenant)
        this.#frame.tryAgain(tenant)
      },
      forgotten: (tenant) => {
        this.#graphs.delete(tenant)
        // They are due: one that has failed wakes it again, at once if that has not been done for long. Others are found when it wakes.
        this.#release(tenant)
      },
    })
    this.#frame = new Frame<Key>(ctx, {
      name: "garbage-collector",
      identify: ({ uid, dependents }) => (dependents === undefined ? uid : `${uid}\n${dependents}`),
      isReady: (tenant) => this.#monitors.isFollowing(tenant),
      // The graph that is made when the tenant wakes asks for what there is to do.
      wakesInMs: () => "never",
    })
  }

  run(): Promise<void> {
    this.#monitors.start()
    return this.#frame.run((key, actor) => this.#reconcile(key, actor))
  }

  async #reconcile({ tenant, uid, dependents }: Key, actor: Actor): Promise<ReconcileResult | Untried> {
    if (dependents !== undefined) return this.#enqueueAll(tenant, this.#graphs.get(tenant)?.dependents(uid, dependents))
    if (!this.#monitors.isComplete(tenant)) {
      this.#waitingOf(tenant).add(uid)
      return { isUntried: true }
    }
    const graph = this.#graphs.get(tenant)
    const node = graph?.node(uid)
    if (graph === undefined || node === undefined) return
    if (!node.isBeingDeleted) return this.#collect(actor, graph, node)
    // Otherwise its dependents follow when it is gone.
    if (node.orphansDependents) await this.#orphan(actor, graph, node)
    else if (node.deletesDependents) await this.#deleteDependents(actor, graph, node)
    // At last, since an owner that cannot be read must not hold the deletion up.
    await this.#reportMisplaced(actor, graph, node)
  }

  #graph(tenant: string): Graph {
    let graph = this.#graphs.get(tenant)
    if (graph === undefined) {
      graph = new Graph({
        enqueue: (uid) => this.#frame.queue.add({ tenant, uid }),
        enqueueDependents: (uid, dependents) => this.#frame.queue.add({ tenant, uid, dependents }),
        enqueueWaiting: (uid, remaining) => {
          const pauseMs = roundPauseMs(remaining)
          if (pauseMs === 0) this.#frame.queue.add({ tenant, uid })
          else this.#frame.queue.addAfter({ tenant, uid }, pauseMs)
        },
        isThere: (owner, namespace) => this.#monitors.isThere(tenant, owner, namespace),
      })
      this.#graphs.set(tenant, graph)
    }
    return graph
  }

  /** A tenant may have a hundred thousand of them. */
  #enqueueAll(tenant: string, nodes: readonly Node[] = []): Promise<void> {
    return inTurns(nodes, ({ uid }) => this.#frame.queue.add({ tenant, uid }))
  }

  #waitingOf(tenant: string): Set<string> {
    let waiting = this.#waiting.get(tenant)
    if (waiting === undefined) this.#waiting.set(tenant, (waiting = new Set()))
    return waiting
  }

  #release(tenant: string): void {
    const waiting = this.#waiting.get(tenant)
    this.#waiting.delete(tenant)
    for (const uid of waiting ?? []) this.#frame.queue.add({ tenant, uid })
  }

  /** Reads the object's current state; undefined if it is gone, which is also recorded in the graph. */
  async #latest(client: KubeClient, graph: Graph, node: Node): Promise<KubeObject | undefined> {
    try {
      const latest = await client.get(node.resource, node.namespace, node.name, { metadataOnly: true })
      if (latest.metadata.uid === node.uid) return latest
    } catch (error) {
      if (!isAbsence(error, node.resource)) throw error
    }
    recordGone(graph, node)
    return undefined
  }

  async #collect(actor: Actor, graph: Graph, node: Node): Promise<void> {
    const { client } = actor
    const latest = await this.#latest(client, graph, node)
    const owners = latest?.metadata.ownerReferences ?? []
    if (latest === undefined || owners.length === 0) return
    const { solid, dangling, waiting } = await this.#classify(actor, graph, node, owners)
    if (solid.length > 0) {
      const superfluous = [...dangling, ...waiting].map(({ uid }) => uid)
      if (superfluous.length > 0) await removeOwners(client, node, superfluous, latest)
      return
    }
    if (waiting.length > 0 && graph.hasDependents(node.uid)) {
      const isInCycle = graph.dependents(node.uid).some((dependent) => dependent.deletesDependents)
      // A cycle of foreground deletions would never end: this object stops blocking its owners.
      if (isInCycle) await unblockOwners(client, node, latest)
      // If that changed the object, it is reconciled once more, after the owners it had blocked.
      if (!(await remove(client, node, latest, "Foreground"))) recordGone(graph, node)
      return
    }
    const finalizers = latest.metadata.finalizers ?? []
    const propagationPolicy = finalizers.includes(orphanFinalizer)
      ? "Orphan"
      : finalizers.includes(foregroundFinalizer)
        ? "Foreground"
        : "Background"
    if (!(await remove(client, node, latest, propagationPolicy))) recordGone(graph, node)
  }

  async #classify(
    actor: Actor,
    graph: Graph,
    node: Node,
    owners: readonly OwnerReference[],
  ): Promise<Record<"solid" | "dangling" | "waiting", OwnerReference[]>> {
    try {
      return await this.#lookUpAll(actor, graph, node, owners)
    } finally {
      this.#examine(actor, graph, node)
    }
  }

  #examine(actor: Actor, graph: Graph, node: Node): void {
    const resourceOf = (reference: OwnerReference): DiscoveredResource | undefined =>
      this.#monitors.resourceOf(actor.tenant, reference)
    this.#elsewhere.examine({ actor, graph, resourceOf }, node)
  }

  /** What is being deleted is reported like all else, although its owners decide nothing any more. */
  async #reportMisplaced(actor: Actor, graph: Graph, node: Node): Promise<void> {
    const { client } = actor
    const { namespace, unexamined } = node
    for (const reference of namespace === undefined ? [] : unexamined) {
      const resource = this.#monitors.resourceOf(actor.tenant, reference)
      if (resource?.namespaced !== true || graph.known(reference, namespace) !== undefined) continue
      graph.learn(reference, namespace, (await readOwner(client, resource, namespace, reference)) !== undefined)
    }
    this.#examine(actor, graph, node)
  }

  async #lookUpAll(
    actor: Actor,
    graph: Graph,
    node: Node,
    owners: readonly OwnerReference[],
  ): Promise<Record<"solid" | "dangling" | "waiting", OwnerReference[]>> {
    const classes: Record<"solid" | "dangling" | "waiting", OwnerReference[]> = { solid: [], dangling: [], waiting: [] }
    for (const reference of owners) {
      const owner = await this.#lookUp(actor, graph, node, reference)
      if (owner === undefined) classes.dangling.push(reference)
      else {
        const { deletionTimestamp, finalizers = [] } = owner.metadata
        const isWaiting = deletionTimestamp !== undefined && finalizers.includes(foregroundFinalizer)
        classes[isWaiting ? "waiting" : "solid"].push(reference)
      }
    }
    return classes
  }

  async #lookUp(actor: Actor, graph: Graph, node: Node, reference: OwnerReference): Promise<KubeObject | undefined> {
    const { client } = actor
    const resource = this.#monitors.resourceOf(actor.tenant, reference)
    if (resource === undefined) {
      if (graph.isAbsent(reference, node.namespace)) return undefined
      // The kind may be defined later; until then the owner counts as neither present nor absent.
      throw unexplained(`no resource is known of ${reference.apiVersion} ${reference.kind}, owner of ${print(node)}`)
    }
    if (resource.namespaced && node.namespace === undefined) {
      graph.leadsNowhere(node)
      throw new TerminalError(`${print(node)} has no namespace, but its owner "${reference.name}" has`)
    }
    // A namespaced owner must be in the dependent's namespace: references cannot name other namespaces.
    const namespace = resource.namespaced ? node.namespace : undefined
    const known = graph.known(reference, node.namespace)
    if (known === "gone" || known === "absent") return undefined
    const owner = await readOwner(client, resource, namespace, reference)
    graph.learn(reference, node.namespace, owner !== undefined)
    return owner
  }

  async #deleteDependents(actor: Actor, graph: Graph, node: Node): Promise<void> {
    const { client } = actor
    const latest = await this.#latest(client, graph, node)
    if (latest === undefined) return
    if (!graph.isBlocked(node.uid)) {
      await removeFinalizer(client, node, latest, foregroundFinalizer)
      return
    }
    await inTurns(graph.dependents(node.uid), (dependent) => {
      const isPending = !dependent.deletesDependents && isBlocking(dependent, node.uid)
      if (isPending) this.#frame.queue.add({ tenant: actor.tenant, uid: dependent.uid })
    })
  }

  async #orphan(actor: Actor, graph: Graph, node: Node): Promise<void> {
    const { client } = actor
    const dependents = graph.dependents(node.uid).filter((dependent) => mayDecideFor(node, dependent))
    using pace = actor.pace(dependents.length)
    const failure = await settleAll(pace, dependents, (dependent) => removeOwners(client, dependent, [node.uid]))
    if (failure !== undefined) throw failure
    const latest = await this.#latest(client, graph, node)
    if (latest !== undefined) await removeFinalizer(client, node, latest, orphanFinalizer)
  }
}

/** An untrusted server may show objects with the uids of others: that one is gone is no proof for its dependents, who ask. */
function recordGone(graph: Graph, { uid, resource }: Node): void {
  if (resource.isAggregated === true) graph.lost(uid)
  else graph.gone(uid)
}

/** Nor may what it says of its object release the dependents of another API's. */
function mayDecideFor({ uid, resource }: Node, { owners }: Node): boolean {
  if (resource.isAggregated !== true) return true
  const isNamed = ({ apiVersion, kind }: OwnerReference): boolean =>
    kind === resource.kind && parseGroupVersion(apiVersion).group === resource.group
  return owners.some((reference) => reference.uid === uid && isNamed(reference))
}

async function readOwner(
  client: KubeClient,
  resource: DiscoveredResource,
  namespace: string | undefined,
  { name, uid }: OwnerReference,
): Promise<KubeObject | undefined> {
  // Kinds that can only be created (reviews, bindings) have no stored objects.
  if (!resource.verbs.includes("get")) return undefined
  try {
    const owner = await client.get(resource, namespace, name, { metadataOnly: true })
    return owner.metadata.uid === uid ? owner : undefined
  } catch (error) {
    if (isAbsence(error, resource)) return undefined
    throw error
  }
}

function print({ resource, namespace, name }: Node): string {
  return `${resource.resource} "${namespace === undefined ? name : `${namespace}/${name}`}"`
}
