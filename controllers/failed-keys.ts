// When keys that have failed are tried again apart from their own delays. A tenant's webhook may fail for ever: its sleeping tenant is
// woken rarely for that. When its admission changes, it may have been what failed.

import { watchAdmission } from "../client/admission-changes.ts"
import type { Clock } from "../client/clock.ts"
import { LimitedWakings } from "../client/limited-wakings.ts"
import type { Tenants } from "../client/tenants.ts"

/** The longest delay of upstream's queues: k8s.io/client-go/util/workqueue/default_rate_limiters.go. */
export const wakingForFailedMs = 1_000_000

export class FailedKeys {
  readonly #wakings: LimitedWakings
  readonly #subscribers = new Set<(tenant: string) => void>()

  constructor({ tenants, clock, signal }: { tenants: Tenants; clock: Clock; signal: AbortSignal }) {
    this.#wakings = new LimitedWakings(tenants, clock, wakingForFailedMs)
    const stop = tenants.subscribe({ removed: ({ name }) => this.#wakings.forget(name) })
    signal.addEventListener("abort", stop, { once: true })
    watchAdmission(tenants, (tenant) => this.#changed(tenant), signal)
  }

  /** `changed` is called when a tenant's admission has changed. */
  subscribe(changed: (tenant: string) => void): void {
    this.#subscribers.add(changed)
  }

  /** For a key that is due, whose tenant sleeps. Returns when it is due again, unless it is tried before. */
  wake(tenant: string): number {
    return this.#wakings.wake(tenant)
  }

  #changed(tenant: string): void {
    for (const changed of this.#subscribers) changed(tenant)
  }
}
