// Limits the time for validating a value. Schemas with many alternatives that match none of many items would block the shared
// thread for minutes.

import { requestEntityTooLarge } from "../status.ts"
import { ThreadTime } from "../thread-time.ts"

/** Processor time. */
const maxThreadMs = 1_000
/** Number of steps between two checks of the time; a slow step counts as this many. */
export const lookEvery = 64

export class Pace {
  #steps = 0
  #time: ThreadTime | undefined

  /** Throws RequestEntityTooLarge if the time is exceeded. */
  spend(steps: number): void {
    this.#steps += steps
    if (this.#steps < lookEvery) return
    this.#steps = 0
    if (this.#time === undefined) this.#time = new ThreadTime(maxThreadMs)
    else if (this.#time.isOver)
      throw requestEntityTooLarge(`Request entity too large: it takes longer than ${maxThreadMs} ms to check it`)
  }
}
