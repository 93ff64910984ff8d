// A tenant of whose changes controllers hear late: of each kind in order, but of one before the other, by chance. Streams may start again,
// the tenant may fall asleep, and its controllers may be switched off.

import type { KubeObject } from "../../apimachinery/object.ts"
import { pick, type Random } from "../../apimachinery/testing/random.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import { singleCluster } from "../../client/single-cluster.ts"
import type { Tenant, Tenants, TenantSubscriber, TenantWatchHandler, TenantWorker } from "../../client/tenants.ts"
import type { FakeCluster } from "../../client/testing/fake-cluster.ts"

const tenant = "tenant-a"

interface Watch {
  resource: Resource
  handler: TenantWatchHandler<KubeObject>
}

export class DelayedTenant {
  readonly tenants: Tenants
  readonly #cluster: FakeCluster
  readonly #record: Tenant
  readonly #watches = new Set<Watch>()
  readonly #subscribers = new Set<TenantSubscriber>()
  readonly #workers = new Set<TenantWorker>()
  /** By kind, what nobody has heard of yet. */
  readonly #unheard = new Map<string, (() => void)[]>()
  /** Of these kinds nobody hears anything for now. */
  readonly #silent = new Set<string>()
  #isAsleep = false

  /** `client`: what controllers use. */
  constructor(cluster: FakeCluster, client: KubeClient = cluster) {
    this.#cluster = cluster
    const tenants = singleCluster(client, tenant)
    this.#record = tenants.get(tenant)!
    this.tenants = {
      ...tenants,
      subscribe: (subscriber) => {
        this.#subscribers.add(subscriber)
        subscriber.added?.(this.#record)
        return () => this.#subscribers.delete(subscriber)
      },
      register: (worker) => {
        this.#workers.add(worker)
        return () => this.#workers.delete(worker)
      },
      wake: () => this.#wake(),
      watch: (resource, handler, signal) => this.#watch(resource, handler, signal),
    }
  }

  /** Of one change. Returns false if there is none. */
  hear(random: Random): boolean {
    const kinds = [...this.#unheard].filter(([kind, changes]) => changes.length > 0 && !this.#silent.has(kind))
    if (kinds.length === 0) return false
    pick(random, kinds)[1].shift()?.()
    return true
  }

  /** Of one more kind nobody hears anything. */
  silence(random: Random): void {
    this.#silent.add(pick(random, [...this.#kinds]))
  }

  endSilence(): void {
    this.#silent.clear()
  }

  /** All streams begin anew: what has not been heard of is not told. */
  startAgain(): void {
    if (this.#isAsleep) return
    for (const kind of this.#kinds) this.#deliver(kind, true)
  }

  /** If everything has been heard, and nobody has anything to do. */
  sleep(): void {
    const isBusy = [...this.#workers].some((worker) => worker.isBusy(tenant))
    if (this.#isAsleep || isBusy || [...this.#unheard.values()].some(({ length }) => length > 0)) return
    this.#isAsleep = true
    for (const { handler } of this.#watches) handler.asleep?.(tenant)
  }

  /** Whether its controllers are on. */
  switch(isOn: boolean): void {
    if (this.#record.controllers === isOn) return
    this.#record.controllers = isOn
    for (const subscriber of this.#subscribers) subscriber.switched?.(this.#record)
    if (isOn) this.startAgain()
  }

  get #kinds(): Set<string> {
    return new Set([...this.#watches].map(({ resource }) => resource.resource))
  }

  #wake(): void {
    if (!this.#isAsleep) return
    this.#isAsleep = false
    for (const kind of this.#kinds) this.#deliver(kind, false)
  }

  /** All objects that there are now. */
  #deliver(kind: string, isAgain: boolean): void {
    const watches = [...this.#watches].filter(({ resource }) => resource.resource === kind)
    const [first] = watches
    if (first === undefined) return
    const objects = this.#cluster.all<KubeObject>(first.resource)
    const deliver = (): void => {
      for (const watch of watches) {
        if (!this.#watches.has(watch)) continue
        if (isAgain) watch.handler.restarted(tenant)
        for (const object of objects) watch.handler.event({ tenant, type: "ADDED", object })
        watch.handler.synced(tenant)
      }
    }
    this.#unheard.set(kind, [deliver])
  }

  #watch<T extends KubeObject>(resource: Resource, handler: TenantWatchHandler<T>, signal: AbortSignal): void {
    const watch: Watch = { resource, handler: handler as unknown as TenantWatchHandler<KubeObject> }
    this.#watches.add(watch)
    for (const object of this.#cluster.all<T>(resource)) handler.event({ tenant, type: "ADDED", object })
    const stop = this.#cluster.onChange(({ resource: plural, type, object }) => {
      if (plural !== resource.resource) return
      if (this.#isAsleep) return this.#wake()
      const changes = this.#unheard.get(plural) ?? []
      this.#unheard.set(plural, changes)
      changes.push(() => this.#watches.has(watch) && handler.event({ tenant, type, object: object as T }))
    })
    const end = (): void => {
      stop()
      this.#watches.delete(watch)
    }
    signal.addEventListener("abort", end, { once: true })
    handler.synced(tenant)
  }
}
