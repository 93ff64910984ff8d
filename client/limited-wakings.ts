// Wakes sleeping tenants for work that has failed, and may fail for ever, not more often than once in a given time.

import type { Clock } from "./clock.ts"
import type { Tenants } from "./tenants.ts"

export class LimitedWakings {
  readonly #tenants: Pick<Tenants, "wake">
  readonly #clock: Clock
  readonly #leastMs: number
  /** When each tenant was woken last. */
  readonly #woken = new Map<string, number>()

  constructor(tenants: Pick<Tenants, "wake">, clock: Clock, leastMs: number) {
    this.#tenants = tenants
    this.#clock = clock
    this.#leastMs = leastMs
  }

  /**
   * Wakes the tenant, which is no use of it, if that may be now. Returns the milliseconds until it may be next, also if waking fails.
   * `soonerMs`: the time between two wakings, if it is shorter for this work.
   */
  wake(tenant: string, soonerMs = Infinity): number {
    const now = this.#clock.elapsed()
    const woken = this.#woken.get(tenant)
    const leastMs = Math.min(this.#leastMs, soonerMs)
    const waitMs = woken === undefined ? 0 : woken + leastMs - now
    if (waitMs > 0) return waitMs
    this.#woken.set(tenant, now)
    this.#tenants.wake(tenant, { isUse: false })
    return leastMs
  }

  /** The tenant is gone. */
  forget(tenant: string): void {
    this.#woken.delete(tenant)
  }
}
