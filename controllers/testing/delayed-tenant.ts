// A tenant of whose changes controllers hear late: of each kind in order, but of one before the other, by chance.

import type { KubeObject } from "../../apimachinery/object.ts"
import { pick, type Random } from "../../apimachinery/testing/random.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import { singleCluster } from "../../client/single-cluster.ts"
import type { Tenants, TenantWatchHandler } from "../../client/tenants.ts"
import type { FakeCluster } from "../../client/testing/fake-cluster.ts"

export class DelayedTenant {
  readonly tenants: Tenants
  readonly #cluster: FakeCluster
  /** By kind, what nobody has heard of yet. */
  readonly #unheard = new Map<string, (() => void)[]>()

  /** `client`: what controllers use. */
  constructor(cluster: FakeCluster, client: KubeClient = cluster) {
    this.#cluster = cluster
    const tenants = singleCluster(client, "tenant-a")
    this.tenants = { ...tenants, watch: (resource, handler, signal) => this.#watch(resource, handler, signal) }
  }

  /** Of one change. Returns false if there is none. */
  hear(random: Random): boolean {
    const kinds = [...this.#unheard.values()].filter((changes) => changes.length > 0)
    if (kinds.length === 0) return false
    pick(random, kinds).shift()?.()
    return true
  }

  #watch<T extends KubeObject>(resource: Resource, handler: TenantWatchHandler<T>, signal: AbortSignal): void {
    const tenant = "tenant-a"
    for (const object of this.#cluster.all<T>(resource)) handler.event({ tenant, type: "ADDED", object })
    const stop = this.#cluster.onChange(({ resource: plural, type, object }) => {
      if (plural !== resource.resource) return
      const changes = this.#unheard.get(plural) ?? []
      this.#unheard.set(plural, changes)
      changes.push(() => signal.aborted || handler.event({ tenant, type, object: object as T }))
    })
    signal.addEventListener("abort", stop, { once: true })
    handler.synced(tenant)
  }
}
