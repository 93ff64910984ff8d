// Many tenants with the same objects, asleep until they are woken, behind one Tenants. Subscribers get the events of a
// gateway: all objects of a tenant that wakes, and the event that it has fallen asleep.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import type { Tenant, Tenants, TenantWatchHandler, TenantWorker } from "../../client/tenants.ts"

interface Watch {
  resource: Resource
  handler: TenantWatchHandler<KubeObject>
}

export class SleepingTenants implements Tenants {
  readonly #tenants: ReadonlyMap<string, Tenant>
  readonly #objects: (tenant: string, resource: Resource) => readonly KubeObject[]
  readonly #client: KubeClient
  readonly #watches = new Set<Watch>()
  readonly #workers = new Set<TenantWorker>()
  readonly #awake = new Set<string>()
  /** The names of the woken tenants, in order. */
  readonly woken: string[] = []

  constructor(
    names: readonly string[],
    objects: (tenant: string, resource: Resource) => readonly KubeObject[],
    client: KubeClient,
  ) {
    this.#tenants = new Map(names.map((name) => [name, tenantNamed(name)]))
    this.#objects = objects
    this.#client = client
  }

  get(name: string): Tenant | undefined {
    return this.#tenants.get(name)
  }

  list(): readonly Tenant[] {
    return [...this.#tenants.values()]
  }

  subscribe(handler: { added?(tenant: Tenant): void }): () => void {
    for (const tenant of this.#tenants.values()) handler.added?.(tenant)
    return () => undefined
  }

  client(): KubeClient {
    return this.#client
  }

  watch<T extends KubeObject>(resource: Resource, handler: TenantWatchHandler<T>, signal: AbortSignal): void {
    const watch: Watch = { resource, handler: handler as unknown as TenantWatchHandler<KubeObject> }
    this.#watches.add(watch)
    signal.addEventListener("abort", () => this.#watches.delete(watch), { once: true })
    for (const name of this.#awake) this.#deliver(name, watch)
  }

  wake(name: string): void {
    this.woken.push(name)
    if (this.#awake.has(name)) return
    this.#awake.add(name)
    for (const watch of this.#watches) this.#deliver(name, watch)
  }

  register(worker: TenantWorker): () => void {
    this.#workers.add(worker)
    return () => this.#workers.delete(worker)
  }

  pause(): undefined {
    return undefined
  }

  /** Puts all tenants without pending work to sleep. Returns the number of tenants that stay awake. */
  rest(): number {
    for (const name of this.#awake) {
      if ([...this.#workers].some((worker) => worker.isBusy(name))) continue
      this.#awake.delete(name)
      for (const { handler } of this.#watches) handler.asleep?.(name)
    }
    return this.#awake.size
  }

  #deliver(tenant: string, { resource, handler }: Watch): void {
    for (const object of this.#objects(tenant, resource)) handler.event({ tenant, type: "ADDED", object })
    handler.synced(tenant)
  }
}

function tenantNamed(name: string): Tenant {
  return {
    name,
    uid: name,
    virtualCluster: { namespace: "", name, uid: "" },
    clusterKey: name,
    clusterDomain: "cluster.local",
    transparentMetaPrefixes: [],
    opaqueMetaPrefixes: [],
    controllers: true,
  }
}
