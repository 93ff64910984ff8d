// Pages of long lists in process, one at a time: whoever follows all there is does so kind by kind at the same time, with
// thousands of tenants for many seconds. Half of the time is others'.

import { pause, systemClock } from "../client/clock.ts"

export class PageTurns {
  #last: Promise<void> = Promise.resolve()

  /** Runs it when what came before is done and has rested as long as it took. Throws the signal's reason when that ends first. */
  async take<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const before = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = promise
    await before
    const began = performance.now()
    try {
      signal.throwIfAborted()
      return await work()
    } finally {
      void pause(systemClock, performance.now() - began, signal).then(resolve)
    }
  }
}
