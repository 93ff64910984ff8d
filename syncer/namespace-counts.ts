// How many namespaces each tenant has in the super cluster, counted there as all copies are (copy-quota.ts), but for all tenants at once: a
// list of one tenant's would read those of all, so with thousands of tenants each one's first Service would.

import { controlledLabel, superNamespace } from "../apimachinery/tenancy.ts"
import { systemClock } from "../client/clock.ts"
import { pagesOf } from "../client/pages.ts"
import { namespaces } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import type { Tenant } from "../client/tenants.ts"
import { recordedOwner } from "./conversion/ownership.ts"
import { exceeded, maxNamespaces } from "./copy-quota.ts"
import { syncerLimits } from "./options.ts"

export class NamespaceCounts {
  readonly #superClient: () => KubeClient
  /** By cluster key, as counted last, and those that were claimed since. */
  #counts = new Map<string, number>()
  #counted = { at: -Infinity, tookMs: 0 }
  #counting: Promise<void> | undefined
  /** By name in super, the cluster keys of those claimed during a count that has not shown them. */
  readonly #claimed = new Map<string, string>()

  constructor(superClient: () => KubeClient) {
    this.#superClient = superClient
  }

  /** Called before a namespace of the tenant is created in super. Throws Forbidden. Those that the syncer makes are counted by it. */
  async claim({ clusterKey, quota = {} }: Tenant, namespace: string): Promise<void> {
    const limited = maxNamespaces(quota)
    if (this.#isOutdated(this.#of(clusterKey) < limited))
      await (this.#counting ??= this.#count().finally(() => (this.#counting = undefined)))
    const used = this.#of(clusterKey)
    if (used >= limited) throw exceeded(namespaces, namespace, { used, limited })
    this.#counts.set(clusterKey, used + 1)
    if (this.#counting !== undefined) this.#claimed.set(superNamespace(clusterKey, namespace), clusterKey)
  }

  #of(clusterKey: string): number {
    return this.#counts.get(clusterKey) ?? 0
  }

  /** Without room sooner. Never so soon that a tenant could make this process count most of the time. */
  #isOutdated(hasRoom: boolean): boolean {
    const { namespacesKnownMs, namespacesFullMs, countingShare } = syncerLimits
    const { at, tookMs } = this.#counted
    const lastingMs = Math.max(hasRoom ? namespacesKnownMs : namespacesFullMs, tookMs / countingShare)
    return systemClock.elapsed() - at >= lastingMs
  }

  async #count(): Promise<void> {
    const began = systemClock.elapsed()
    this.#claimed.clear()
    const counts = new Map<string, number>()
    const add = (clusterKey: string): void => void counts.set(clusterKey, (counts.get(clusterKey) ?? 0) + 1)
    const selected = { labelSelector: `${controlledLabel}=true`, metadataOnly: true }
    for await (const { items } of pagesOf(this.#superClient(), namespaces, selected))
      for (const copy of items) {
        const owner = recordedOwner(copy)
        if (owner === undefined) continue
        add(owner.clusterKey)
        this.#claimed.delete(copy.metadata.name ?? "")
      }
    for (const clusterKey of this.#claimed.values()) add(clusterKey)
    this.#claimed.clear()
    this.#counts = counts
    this.#counted = { at: systemClock.elapsed(), tookMs: systemClock.elapsed() - began }
  }
}
