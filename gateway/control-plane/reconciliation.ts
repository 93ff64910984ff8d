// Reconciles state of a control plane after changes: each run starts in a new turn of the event loop, one at a time, and is
// repeated if something changed meanwhile. Disposal waits for the current run. What is due and has not run is due again when the control
// plane is next opened.

import { setImmediate as nextTurn } from "node:timers/promises"
import { pause, systemClock } from "../../client/clock.ts"
import type { Log } from "../../client/log.ts"
import { controlPlaneClosed } from "./ending.ts"

interface ReconciliationParts {
  reconcile: (signal: AbortSignal) => Promise<void>
  /** Least time between the starts of two runs. Default: none. */
  everyMs?: number
  /** Logged when a run fails. The next change, or the next time the control plane opens, retries it. */
  failure: string
  log: Log
}

export class Reconciliation implements AsyncDisposable {
  readonly #parts: ReconciliationParts
  readonly #ending = new AbortController()
  #running: Promise<void> | undefined
  #isDue = false
  /** performance.now() */
  #lastRun = -Infinity

  constructor(parts: ReconciliationParts) {
    this.#parts = parts
  }

  /** Call after a change. */
  due(): void {
    if (this.#ending.signal.aborted) return
    this.#isDue = true
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort(controlPlaneClosed)
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending
    const { reconcile, everyMs = 0, failure, log } = this.#parts
    while (this.#isDue && !signal.aborted) {
      const early = this.#lastRun + everyMs - performance.now()
      if (early > 0) await pause(systemClock, early, signal)
      this.#isDue = false
      await nextTurn()
      if (signal.aborted) return
      this.#lastRun = performance.now()
      try {
        await reconcile(signal)
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error }, failure)
      }
    }
  }
}
