// How long copies that are to be made have waited for what super refuses them: before one gives it up, it asks again a few times, and other
// work goes on in the meantime.

import { remember } from "../apimachinery/remember.ts"
import type { Clock } from "../client/clock.ts"
import { syncerLimits } from "./options.ts"

interface Waited {
  tenant: string
  times: number
  /** When it is asked for again. */
  until: number
}

const { afterMs, forgottenMs, remembered } = syncerLimits.numberWaits

export class NumberWaits {
  readonly #clock: Clock
  /** By tenant and uid of its object; those that were refused longest ago first. */
  readonly #waited = new Map<string, Waited>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A copy has been refused. Milliseconds until it is asked for again; 0: what is refused is given up. */
  refused(tenant: string, uid: string): number {
    const now = this.#clock.elapsed()
    this.#forget(now)
    const id = idOf(tenant, uid)
    const { times, until } = this.#waited.get(id) ?? { times: 0, until: now }
    // An event may have come in between.
    if (until > now) return Math.ceil(until - now)
    if (times === 0 && this.#waited.size >= remembered) return 0
    const waitMs = afterMs[times] ?? 0
    remember(this.#waited, id, { tenant, times: times + 1, until: now + waitMs }, remembered)
    return waitMs
  }

  /** The copy has been made, with what it has asked for or without. */
  end(tenant: string, uid: string): void {
    this.#waited.delete(idOf(tenant, uid))
  }

  /** Milliseconds until what depends on the tenant's copies may be made; 0: none of them waits. */
  ofTenant(tenant: string): number {
    const now = this.#clock.elapsed()
    this.#forget(now)
    const waits = [...this.#waited.values()].filter((one) => one.tenant === tenant && one.times <= afterMs.length)
    // Whose time has come may not have been asked for yet.
    return waits.reduce((longest, { until }) => Math.max(longest, until - now, afterMs[0]), 0)
  }

  /** What is not asked for any more, such as for an object that is deleted. */
  #forget(now: number): void {
    for (const [id, { until }] of this.#waited) {
      if (now - until < forgottenMs) return
      this.#waited.delete(id)
    }
  }
}

const idOf = (tenant: string, uid: string): string => `${tenant} ${uid}`
