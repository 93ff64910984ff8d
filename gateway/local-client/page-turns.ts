// Serializes pages of long lists in process. A component that follows all tenants lists all kinds at the same time, which takes
// many seconds with thousands of tenants. Half of the time is left to other work.

import { pause, systemClock } from "../../client/clock.ts"

export class PageTurns {
  #last: Promise<void> = Promise.resolve()

  /**
   * Runs the work after the previous work has finished and an equally long pause. Throws the signal's reason if it is aborted
   * first.
   */
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
