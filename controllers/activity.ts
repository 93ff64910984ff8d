// Which tenants have something to do now. All share one thread: who has much to do at once (thousands of pods) does it in
// smaller pieces, and with pauses, while somebody else has something to do; and as fast as it goes while nobody has.

import { pause, type Clock } from "../client/clock.ts"

/** A tenant has something to do until so long after one of its keys was taken: what it waits for takes about that. */
const recentMs = 250
/** Between two pieces of bulk work, whatever the last one took. */
const longestPauseMs = 250
/** Calls under way at once. More would finish a tenant's work hardly sooner, but everybody else's later. */
const largestBatch = 4
/** So many calls are no bulk work. */
const fewCalls = 8

/** How one tenant's bulk work goes on. Disposed when it is done. */
export interface Pace extends Disposable {
  /** Calls that may be under way at once. */
  readonly batch: number
  /** After each batch: waits as long as that took when others have something to do, so that half of the time is theirs. */
  rest(tookMs: number): Promise<void>
}

interface Sighting {
  tenant: string
  at: number
}

export class Activity {
  readonly #clock: Clock
  readonly #signal: AbortSignal
  /** Who was seen last, and the last one before that who is somebody else. */
  #latest: Sighting | undefined
  #before: Sighting | undefined
  /** How much bulk work each is at. What they do beside it does not slow others' bulk work: they are in turn anyway. */
  readonly #atBulk = new Map<string, number>()

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock
    this.#signal = signal
  }

  /** A key of it is being worked on. */
  saw(tenant: string): void {
    if (this.#atBulk.has(tenant)) return
    if (this.#latest?.tenant !== tenant) this.#before = this.#latest
    this.#latest = { tenant, at: this.#clock.now() }
  }

  /** Somebody else has something to do. */
  hasOthers(tenant: string): boolean {
    const seen = this.#latest?.tenant === tenant ? this.#before : this.#latest
    return seen !== undefined && this.#clock.now() - seen.at < recentMs
  }

  /** For so many calls on behalf of a tenant. */
  pace(tenant: string, calls: number): Pace {
    if (calls <= fewCalls) return unhurried
    this.#atBulk.set(tenant, (this.#atBulk.get(tenant) ?? 0) + 1)
    const hasOthers = (): boolean => this.hasOthers(tenant)
    return {
      get batch() {
        return hasOthers() ? 1 : largestBatch
      },
      rest: async (tookMs) => {
        if (hasOthers()) await pause(this.#clock, Math.min(tookMs, longestPauseMs), this.#signal)
      },
      [Symbol.dispose]: () => this.#leave(tenant),
    }
  }

  #leave(tenant: string): void {
    const left = (this.#atBulk.get(tenant) ?? 1) - 1
    if (left === 0) this.#atBulk.delete(tenant)
    else this.#atBulk.set(tenant, left)
  }
}

const unhurried: Pace = {
  batch: largestBatch,
  rest: () => Promise.resolve(),
  [Symbol.dispose]: () => undefined,
}
