// Tracks which tenants currently have work. All tenants share one thread: a tenant with bulk work (thousands of pods) uses smaller
// batches and pauses between them while another tenant has work, and runs at full speed otherwise.

import { pause, type Clock } from "../client/clock.ts"

/** A tenant counts as having work for this long after one of its keys was taken, approximately the time it waits for responses. */
const recentMs = 250
/** Maximum pause between two batches, however long the last batch took. */
const longestPauseMs = 250
/** Maximum number of calls in progress. More would hardly finish a tenant's work sooner, but would delay the other tenants. */
const largestBatch = 4
/** Up to this number of calls is not bulk work. */
const fewCalls = 8

/** The pace of one tenant's bulk work. Disposed when the work is done. */
export interface Pace extends Disposable {
  /** Number of calls that may be in progress at the same time. */
  readonly batch: number
  /** Called after each batch: waits as long as the batch took if other tenants have work, so that they get half of the time. */
  rest(tookMs: number): Promise<void>
}

interface Observation {
  tenant: string
  at: number
}

export class Activity {
  readonly #clock: Clock
  readonly #signal: AbortSignal
  /** The tenant seen last, and the last other tenant before it. */
  #latest: Observation | undefined
  #before: Observation | undefined
  /** Number of bulk jobs per tenant. These tenants' other work does not slow down other bulk work: the queue is fair anyway. */
  readonly #atBulk = new Map<string, number>()

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock
    this.#signal = signal
  }

  /** Called when a key of the tenant is taken. */
  observed(tenant: string): void {
    if (this.#atBulk.has(tenant)) return
    if (this.#latest?.tenant !== tenant) this.#before = this.#latest
    this.#latest = { tenant, at: this.#clock.elapsed() }
  }

  /** Whether another tenant has work. */
  hasOthers(tenant: string): boolean {
    const seen = this.#latest?.tenant === tenant ? this.#before : this.#latest
    return seen !== undefined && this.#clock.elapsed() - seen.at < recentMs
  }

  /** The pace for this number of calls on behalf of a tenant. */
  pace(tenant: string, calls: number): Pace {
    if (calls <= fewCalls) return unpaced
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

const unpaced: Pace = {
  batch: largestBatch,
  rest: () => Promise.resolve(),
  [Symbol.dispose]: () => undefined,
}
