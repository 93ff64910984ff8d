// The safety net: compares both sides completely, in memory, with the same decision as reconciles. Missed
// deletes, manual changes and orphans all become keys in the queue. The only writes here delete namespaces
// whose tenant has been deleted.

import { setImmediate } from "node:timers/promises"
import type { KubeObject, Node } from "../apimachinery/object.ts"
import { isConflict, isNotFound } from "../apimachinery/status.ts"
import { pause, type Clock } from "../client/clock.ts"
import type { Log, LogFields } from "../client/log.ts"
import { namespaces, nodes, pods } from "../client/resources.ts"
import type { KubeClient, Resource } from "../client/rest.ts"
import type { Tenant, Tenants } from "../client/tenants.ts"
import type { Caches } from "./clusters/caches.ts"
import { clusterKeyOfResource } from "./conversion/resource-names.ts"
import { superPlace } from "./conversion/super-object.ts"
import { decide } from "./decision.ts"
import { isUnavailable } from "./failures.ts"
import { keyOf, type SyncKey } from "./keys.ts"
import { superKey } from "./key-of-super.ts"
import { syncerLimits } from "./options.ts"
import type { Publisher } from "./publisher.ts"
import { publications, resourceSyncs } from "./resources/index.ts"
import type { ResourceSync, SyncContext } from "./resources/resource-sync.ts"
import type { TokenKeeper } from "./token-keeper.ts"
import { clusterKeyOf, endsLate, endSoon, isVirtualClusterGone } from "./unknown-tenants.ts"

interface PatrolParts {
  tenants: Tenants
  superClient: KubeClient
  caches: Caches
  publisher: Publisher
  tokens: TokenKeeper
  /**
   * Yields one value per pod: its key if it waits for room, or undefined. Such a pod does not differ from its copy, so the comparison does
   * not find it.
   */
  waiting(tenant: Tenant, context: SyncContext): Generator<SyncKey | undefined>
  contextOf(tenant: Tenant): SyncContext
  enqueue(key: SyncKey): void
  /** Brings the key after that time. */
  schedule(key: SyncKey, afterMs: number): void
  /** false while tenants may still be missing from the list: objects of unknown tenants are then not changed. */
  tenantListComplete(): boolean
  clock: Clock
  metrics: { patrolled(report: PatrolReport, seconds: number): void } | undefined
  log: Log
}

export interface PatrolReport {
  compared: number
  /** Number of differing keys, by resource. */
  enqueued: Map<string, number>
  removedNamespaces: number
}

const emptyReport = (): PatrolReport => ({ compared: 0, enqueued: new Map(), removedNamespaces: 0 })

export class Patrol {
  readonly #parts: PatrolParts
  /** The unknown namespace at which the next patrol continues. */
  #checked = 0

  constructor(parts: PatrolParts) {
    this.#parts = parts
  }

  /** Again and again, until the signal ends. The first round finds all changes since the previous process ended. */
  async runForever(periodMs: number, signal: AbortSignal): Promise<void> {
    const { clock, metrics, log } = this.#parts
    while (!signal.aborted) {
      const began = clock.elapsed()
      try {
        const report = await this.run(signal)
        const milliseconds = clock.elapsed() - began
        metrics?.patrolled(report, milliseconds / 1000)
        log.debug({ ...report, enqueued: Object.fromEntries(report.enqueued), milliseconds }, "patrol done")
      } catch (error) {
        if (!isUnavailable(error)) log.error({ err: error }, "patrol failed")
      }
      await pause(clock, periodMs, signal)
    }
  }

  async run(signal: AbortSignal): Promise<PatrolReport> {
    const report = emptyReport()
    for (const tenant of this.#parts.tenants.list()) {
      if (signal.aborted) return report
      await this.#apart({ tenant: tenant.name }, () => this.compareTenant(tenant, signal, { report, isFirst: false }))
    }
    if (signal.aborted) return report
    report.removedNamespaces = await this.#removeUnknown()
    await this.#removeUnknownResources()
    await this.#endUnknownPods()
    return report
  }

  /** A persistent error with one tenant must not prevent the comparison of the others. */
  async #apart(what: LogFields, work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (isUnavailable(error)) throw error
      this.#parts.log.error({ ...what, err: error }, "part of the patrol failed")
    }
  }

  /**
   * Compares one tenant. `isFirst`: when a tenant becomes ready, instead of one key per object. Then also what is refused is new, which
   * later is no difference, as long as it would be refused again; and nobody else knows of the pods that wait for room.
   */
  async compareTenant(
    tenant: Tenant,
    signal: AbortSignal,
    { report = emptyReport(), isFirst }: { report?: PatrolReport; isFirst: boolean },
  ): Promise<PatrolReport> {
    if (!this.#parts.caches.isReady(tenant.name)) return report
    const context = this.#parts.contextOf(tenant)
    const steps = [
      ...this.#copies(tenant, context, isFirst),
      ...(isFirst ? [() => this.#parts.waiting(tenant, context)] : []),
      () => this.#compareTokens(tenant),
      ...this.#published(tenant, context),
    ]
    let turnBegan = performance.now()
    for (const step of steps) {
      for (const key of step()) {
        if (key !== undefined) {
          report.enqueued.set(key.resource, (report.enqueued.get(key.resource) ?? 0) + 1)
          this.#parts.enqueue(key)
        }
        report.compared++
        // By time: objects of one tenant may take a thousand times as long as those of another.
        if (performance.now() - turnBegan > syncerLimits.patrolTurnMs) {
          await setImmediate()
          turnBegan = performance.now()
        }
        if (signal.aborted) return report
      }
    }
    return report
  }

  #copies(tenant: Tenant, context: SyncContext, tellsRefused: boolean): (() => Generator<SyncKey | undefined>)[] {
    return resourceSyncs.map((sync) => () => this.#compareKind(sync, tenant, context, tellsRefused))
  }

  /** Yields one value per compared object: the key to reconcile, or undefined if both sides agree. */
  *#compareKind(
    sync: ResourceSync,
    tenant: Tenant,
    context: SyncContext,
    tellsRefused: boolean,
  ): Generator<SyncKey | undefined> {
    const { caches } = this.#parts
    const { resource } = sync
    const informer = caches.superInformer(resource)
    for (const object of caches.tenantInformer(resource).list(tenant.name)) {
      const { namespace, name = "" } = object.metadata
      const place = superPlace(sync, tenant, namespace, name)
      const decision = decide(sync, object, informer.get(place.namespace, place.name), context)
      const isSettled = decision.do === "nothing" || (decision.do === "refuse" && !tellsRefused)
      yield isSettled ? undefined : keyOf(tenant.name, resource, namespace, name)
    }
    for (const superObject of caches.copiesOf(resource, tenant.clusterKey)) {
      const key = superKey(sync, tenant.name, superObject)
      if (key === undefined || key.resource !== resource.resource) continue
      const object = context.view.tenantObject(resource, key.namespace, key.name)
      yield object === undefined && decide(sync, undefined, superObject, context).do !== "nothing" ? key : undefined
    }
  }

  /** Renewals are scheduled here too: after a start, and when a tenant wakes, nothing else knows of them. */
  *#compareTokens(tenant: Tenant): Generator<SyncKey | undefined> {
    for (const { key, afterMs } of this.#parts.tokens.due(tenant)) {
      if (afterMs > 0) this.#parts.schedule(key, afterMs)
      yield afterMs > 0 ? undefined : key
    }
  }

  #published(tenant: Tenant, context: SyncContext): (() => Generator<SyncKey | undefined>)[] {
    const { caches, publisher } = this.#parts
    return publications.map(
      (kind) =>
        function* compare(): Generator<SyncKey | undefined> {
          const names = new Set<string>()
          for (const { metadata } of caches.superInformer(kind.resource).list()) names.add(metadata.name ?? "")
          for (const { metadata } of caches.tenantInformer(kind.resource).list(tenant.name))
            names.add(metadata.name ?? "")
          for (const name of names) {
            yield publisher.differs(kind, context, name)
              ? keyOf(tenant.name, kind.resource, undefined, name)
              : undefined
          }
        },
    )
  }

  /**
   * Namespaces and cluster-scoped objects with the marks of an unknown tenant. They are removed only if the super cluster itself
   * answers that the VirtualCluster does not exist. A temporarily incomplete list of tenants removes nothing.
   */
  async #removeUnknown(): Promise<number> {
    const { caches, tenants } = this.#parts
    if (!caches.superReady || !this.#parts.tenantListComplete()) return 0
    const known = new Set(tenants.list().map(({ clusterKey }) => clusterKey))
    const unknown: { resource: Resource; object: KubeObject }[] = []
    for (const { resource } of resourceSyncs) {
      if (resource.namespaced) continue
      for (const object of caches.superInformer(resource).list()) {
        const clusterKey = clusterKeyOf(object)
        if (clusterKey === undefined || known.has(clusterKey)) continue
        if (object.metadata.deletionTimestamp === undefined) unknown.push({ resource, object })
      }
    }
    let removed = 0
    for (const { resource, object } of this.#nextOf(unknown)) {
      await this.#apart({ resource: resource.resource, name: object.metadata.name }, async () => {
        if (!(await isVirtualClusterGone(this.#parts.superClient, object))) return
        if ((await this.#remove(resource, object)) && resource === namespaces) removed++
      })
    }
    return removed
  }

  /** In rotation, so that those that have to stay do not block the others forever. */
  #nextOf<T>(all: readonly T[]): T[] {
    const count = Math.min(all.length, syncerLimits.unknownNamespacesPerPatrol)
    const from = this.#checked % Math.max(1, all.length)
    this.#checked = from + count
    return [...all.slice(from), ...all.slice(0, from)].slice(0, count)
  }

  /** In the state that was seen: somebody may have made it their own since. */
  async #remove(resource: Resource, { metadata }: KubeObject): Promise<boolean> {
    const { name = "", uid = "", resourceVersion = "" } = metadata
    try {
      await this.#parts.superClient.delete(resource, undefined, name, { uid, resourceVersion })
      return true
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error
      return false
    }
  }

  /** A pod that ends with the namespace of an unknown tenant: the tenant may have given it any time for that, in which it runs. */
  async #endUnknownPods(): Promise<void> {
    const { caches, tenants, superClient } = this.#parts
    if (!caches.superReady || !this.#parts.tenantListComplete()) return
    const known = new Set(tenants.list().map(({ clusterKey }) => clusterKey))
    const ending = caches
      .superInformer(namespaces)
      .list()
      .filter(({ metadata }) => metadata.deletionTimestamp)
    for (const [clusterKey, homes] of Map.groupBy(ending, (namespace) => clusterKeyOf(namespace) ?? "")) {
      const [first] = homes
      if (clusterKey === "" || known.has(clusterKey) || first === undefined) continue
      const names = new Set(homes.map(({ metadata }) => metadata.name))
      const long = caches.copiesOf(pods, clusterKey).filter((pod) => names.has(pod.metadata.namespace) && endsLate(pod))
      if (long.length === 0) continue
      await this.#apart({ clusterKey }, async () => {
        if (!(await isVirtualClusterGone(superClient, first))) return
        for (const pod of long) await endSoon(superClient, pod)
      })
    }
  }

  /** Removes extended resources of unknown tenants from nodes. A tenant that is only temporarily unknown adds them again. */
  async #removeUnknownResources(): Promise<void> {
    const { caches, tenants, superClient } = this.#parts
    if (!caches.superReady || !this.#parts.tenantListComplete()) return
    const known = new Set(tenants.list().map(({ clusterKey }) => clusterKey))
    for (const { metadata, status } of caches.superInformer(nodes).list() as Node[]) {
      const names = Object.keys(status?.capacity ?? {}).filter((name) => {
        const clusterKey = clusterKeyOfResource(name)
        return clusterKey !== undefined && !known.has(clusterKey)
      })
      if (names.length === 0) continue
      const none = Object.fromEntries(names.map((name) => [name, null]))
      const patch = { metadata: { uid: metadata.uid }, status: { capacity: none, allocatable: none } }
      await this.#apart({ node: metadata.name }, async () => {
        try {
          await superClient.patch(nodes, undefined, metadata.name ?? "", patch, {
            type: "merge",
            subresource: "status",
          })
        } catch (error) {
          if (!isNotFound(error) && !isConflict(error)) throw error
        }
      })
    }
  }
}
