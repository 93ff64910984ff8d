// How long copies have waited for what super refuses them: before one gives it up, it asks again a few times, and other work goes on in the
// meantime.

import { remember } from "../apimachinery/remember.ts"
import type { Clock } from "../client/clock.ts"
import { syncerLimits } from "./options.ts"

interface Waited {
  times: number
  /** When it is asked for again. */
  until: number
}

export class NumberWaits {
  readonly #clock: Clock
  /** By tenant's object and copy; those that were refused longest ago first. */
  readonly #waited = new Map<string, Waited>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** It has been refused. Milliseconds until it is asked for again; 0: it is given up. */
  refused(id: string): number {
    const { afterMs, remembered } = syncerLimits.numberWaits
    const now = this.#clock.elapsed()
    const { times, until } = this.#waited.get(id) ?? { times: 0, until: now }
    // An event may have come in between.
    if (until > now) return Math.ceil(until - now)
    const waitMs = afterMs[times] ?? 0
    remember(this.#waited, id, { times: times + 1, until: now + waitMs }, remembered)
    return waitMs
  }

  /** It has what it asked for, or something else instead. */
  end(id: string): void {
    this.#waited.delete(id)
  }
}
