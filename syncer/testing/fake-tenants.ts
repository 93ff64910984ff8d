// Tenants with a fake API server each.

import type { KubeObject } from "../../apimachinery/object.ts"
import { clusterKey } from "../../apimachinery/tenancy.ts"
import { notFound } from "../../apimachinery/status.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import {
  identityOf,
  type Tenant,
  type TenantIdentity,
  type Tenants,
  type TenantSubscriber,
  type TenantUse,
  type TenantWatchHandler,
  type TenantWorker,
} from "../../client/tenants.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"

export function fakeTenant(name: string, more: Partial<Tenant> = {}): Tenant {
  const virtualCluster = { namespace: "default", name, uid: `uid-of-${name}` }
  return {
    name,
    uid: `tenant-uid-of-${name}`,
    virtualCluster,
    clusterKey: clusterKey(virtualCluster),
    clusterDomain: "cluster.local",
    transparentMetaPrefixes: [],
    opaqueMetaPrefixes: [],
    controllers: true,
    ...more,
  }
}

interface FakeWatch {
  /** Has no effect if the tenant is attached. */
  attach(tenant: Tenant, cluster: FakeCluster): void
  rest(tenant: string): void
  detach(tenant: string): void
}

export class FakeTenants implements Tenants {
  readonly clusters = new Map<string, { tenant: Tenant; cluster: FakeCluster }>()
  readonly #subscribers = new Set<TenantSubscriber>()
  readonly #watches = new Set<FakeWatch>()
  readonly #workers = new Set<TenantWorker>()

  add(tenant: Tenant): FakeCluster {
    const cluster = new FakeCluster({ isPopulated: true })
    this.clusters.set(tenant.name, { tenant, cluster })
    for (const subscriber of this.#subscribers) subscriber.added?.(tenant)
    for (const watch of this.#watches) watch.attach(tenant, cluster)
    return cluster
  }

  remove(name: string): void {
    const entry = this.clusters.get(name)
    if (entry === undefined) return
    this.clusters.delete(name)
    for (const watch of this.#watches) watch.detach(name)
    for (const subscriber of this.#subscribers) subscriber.removed?.(entry.tenant)
  }

  get(name: string): Tenant | undefined {
    return this.clusters.get(name)?.tenant
  }

  list(): Tenant[] {
    return [...this.clusters.values()].map(({ tenant }) => tenant)
  }

  subscribe(handler: TenantSubscriber): () => void {
    this.#subscribers.add(handler)
    for (const { tenant } of this.clusters.values()) handler.added?.(tenant)
    return () => this.#subscribers.delete(handler)
  }

  client(tenant: string | TenantIdentity, _use?: TenantUse): KubeClient {
    const { name, uid } = identityOf(this, tenant)
    const entry = this.clusters.get(name)
    if (entry === undefined || entry.tenant.uid !== uid)
      throw notFound({ group: "tenancy.x-k8s.io", resource: "virtualclusters" }, name)
    return entry.cluster
  }

  /** Lasts until the tenant is woken. */
  sleep(name: string): void {
    for (const watch of this.#watches) watch.rest(name)
  }

  wake(name: string): void {
    const entry = this.clusters.get(name)
    if (entry !== undefined) for (const watch of this.#watches) watch.attach(entry.tenant, entry.cluster)
  }

  register(worker?: TenantWorker): () => void {
    if (worker !== undefined) this.#workers.add(worker)
    return () => worker && this.#workers.delete(worker)
  }

  pause(_tenant: string): Promise<void> | undefined {
    return undefined
  }

  /** Somebody works for it: a gateway does not let it sleep then, which is up to tests here. */
  isBusy(name: string): boolean {
    return [...this.#workers].some((worker) => worker.isBusy(name))
  }

  watch<T extends KubeObject>(resource: Resource, handler: TenantWatchHandler<T>, signal: AbortSignal): void {
    const stops = new Map<string, () => void>()
    const watch = {
      attach: (tenant: Tenant, cluster: FakeCluster): void => {
        if (stops.has(tenant.name)) return
        for (const object of cluster.all(resource))
          handler.event({ tenant: tenant.name, type: "ADDED", object: object as T })
        const stop = cluster.onChange((change) => {
          if (change.resource !== resource.resource) return
          handler.event({ tenant: tenant.name, type: change.type, object: change.object as T })
        })
        stops.set(tenant.name, stop)
        handler.synced(tenant.name)
      },
      rest: (name: string): void => {
        stops.get(name)?.()
        if (stops.delete(name)) handler.asleep?.(name)
      },
      detach: (name: string): void => {
        stops.get(name)?.()
        stops.delete(name)
        handler.removed(name)
      },
    }
    this.#watches.add(watch)
    for (const { tenant, cluster } of this.clusters.values()) watch.attach(tenant, cluster)
    signal.addEventListener("abort", () => {
      for (const stop of stops.values()) stop()
    })
  }
}
