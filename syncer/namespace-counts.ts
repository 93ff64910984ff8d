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

/** A namespace in super that is being created. */
interface Claim {
  clusterKey: string
  /** Its create has ended while a count was in progress. */
  hasEnded: boolean
}

export class NamespaceCounts {
  readonly #superClient: () => KubeClient
  /** By cluster key, as counted last, and those that were claimed since. */
  #counts = new Map<string, number>()
  #counted = { at: -Infinity, tookMs: 0 }
  #counting: Promise<void> | undefined
  /** By name in super: those that the count in progress, or the next one, may not show. */
  readonly #claims = new Map<string, Claim>()

  constructor(superClient: () => KubeClient) {
    this.#superClient = superClient
  }

  /**
   * Called before a namespace of the tenant is created in super, once for each at a time. Throws Forbidden. Returns a function to call when
   * the create has ended. Those that the syncer makes are counted by it.
   */
  async claim({ clusterKey, quota = {} }: Tenant, namespace: string): Promise<() => void> {
    const limited = maxNamespaces(quota)
    if (this.#isOutdated(this.#of(clusterKey) < limited))
      await (this.#counting ??= this.#count().finally(() => (this.#counting = undefined)))
    const used = this.#of(clusterKey)
    if (used >= limited) throw exceeded(namespaces, namespace, { used, limited })
    this.#counts.set(clusterKey, used + 1)
    const name = superNamespace(clusterKey, namespace)
    const claim: Claim = { clusterKey, hasEnded: false }
    this.#claims.set(name, claim)
    return () => {
      claim.hasEnded = true
      if (this.#counting === undefined) this.#claims.delete(name)
    }
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
    const counts = new Map<string, number>()
    const add = (clusterKey: string): void => void counts.set(clusterKey, (counts.get(clusterKey) ?? 0) + 1)
    const shown = new Set<string>()
    const selected = { labelSelector: `${controlledLabel}=true`, metadataOnly: true }
    for await (const { items } of pagesOf(this.#superClient(), namespaces, selected))
      for (const copy of items) {
        const owner = recordedOwner(copy)
        if (owner === undefined) continue
        add(owner.clusterKey)
        const { name = "" } = copy.metadata
        if (this.#claims.has(name)) shown.add(name)
      }
    for (const [name, { clusterKey, hasEnded }] of this.#claims) {
      if (!shown.has(name)) add(clusterKey)
      if (hasEnded) this.#claims.delete(name)
    }
    this.#counts = counts
    this.#counted = { at: systemClock.elapsed(), tookMs: systemClock.elapsed() - began }
  }
}
