// Tenants of which a syncer hears late, whose servers fail at random, and which sleep as those of a gateway do.

import { chance } from "../../apimachinery/testing/random.ts"
import type { KubeObject } from "../../apimachinery/object.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import type { TenantIdentity, TenantWatchHandler } from "../../client/tenants.ts"
import type { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { FakeTenants } from "./fake-tenants.ts"
import { faulty, type Faults } from "../../client/testing/faulty-client.ts"

/** What it does not do at once, it does later, in order. */
class Lagging {
  readonly #faults: Faults
  readonly #waiting: (() => void)[] = []

  constructor(faults: Faults) {
    this.#faults = faults
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  do(call: () => void): void {
    if (this.#waiting.push(call) === 1) this.#next()
  }

  #next(): void {
    setImmediate(() => {
      const { random, probability } = this.#faults
      while (!this.isEmpty && !chance(random, Math.min(0.9, probability * 2))) {
        this.#waiting[0]?.()
        this.#waiting.shift()
      }
      if (!this.isEmpty) this.#next()
    })
  }
}

export class RandomTenants extends FakeTenants {
  readonly #faults: Faults
  /** As a gateway in the same process: changes of all kinds in their order. */
  readonly #lagging: Lagging

  constructor(faults: Faults) {
    super()
    this.#faults = faults
    this.#lagging = new Lagging(faults)
  }

  override client(tenant: string | TenantIdentity): KubeClient {
    return faulty(super.client(tenant) as FakeCluster, this.#faults)
  }

  override watch<T extends KubeObject>(resource: Resource, handler: TenantWatchHandler<T>, signal: AbortSignal): void {
    const later = (call: () => void): void => this.#lagging.do(() => signal.aborted || call())
    super.watch<T>(
      resource,
      {
        event: (event) => later(() => handler.event(event)),
        synced: (tenant) => later(() => handler.synced(tenant)),
        removed: (tenant) => later(() => handler.removed(tenant)),
        restarted: (tenant) => later(() => handler.restarted(tenant)),
        asleep: (tenant) => later(() => handler.asleep?.(tenant)),
      },
      signal,
    )
  }

  /** As a gateway: not while somebody works for it, or has not heard of everything. */
  override sleep(name: string): void {
    if (!this.isBusy(name) && this.#lagging.isEmpty) super.sleep(name)
  }
}
