// Introduces tenants to their followers, one after the other, and leaves half of the time to others: a process that starts with thousands of
// tenants serves requests meanwhile. All who introduce share their rests: one does not work while the other rests.

import { setImmediate as nextTurn } from "node:timers/promises"
import { pause, systemClock } from "../../client/clock.ts"
import type { TenantEntry } from "./tenant-entry.ts"

/** As long as was worked, together. */
export class Rests {
  #until = 0

  async after(workedMs: number, signal: AbortSignal): Promise<void> {
    this.#until = Math.max(this.#until, performance.now()) + workedMs
    for (let ms; (ms = this.#until - performance.now()) > 0 && !signal.aborted;) await pause(systemClock, ms, signal)
  }
}

export class Introductions {
  readonly #isReady: (entry: TenantEntry) => boolean | Promise<boolean>
  readonly #rests: Rests
  readonly #signal: AbortSignal
  /** In order. */
  readonly #called = new Set<TenantEntry>()
  #isRunning = false

  /** `isReady`: resolves when it is the tenant's turn; false: it is somebody else's to introduce. */
  constructor(isReady: (entry: TenantEntry) => boolean | Promise<boolean>, rests: Rests, signal: AbortSignal) {
    this.#isReady = isReady
    this.#rests = rests
    this.#signal = signal
  }

  add(entry: TenantEntry): void {
    this.#called.add(entry)
    if (!this.#isRunning) void this.#run()
  }

  delete(entry: TenantEntry): void {
    this.#called.delete(entry)
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    await nextTurn() // subscriptions to many kinds in this turn are served together
    for (const entry of this.#called) {
      const isReady = await this.#isReady(entry)
      if (this.#signal.aborted) return
      if (!this.#called.delete(entry) || !isReady) continue
      const began = performance.now()
      // Not a use: unless its followers find work, the tenant falls asleep when its waking has paid off.
      await entry.introduce(false)
      await nextTurn()
      await this.#rests.after(performance.now() - began, this.#signal)
    }
    this.#isRunning = false
  }
}
