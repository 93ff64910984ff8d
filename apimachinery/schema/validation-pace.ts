// How long a value may be looked at. Some schemas, of many alternatives that none of many items fits, would hold the thread that
// all share for minutes.

import { requestEntityTooLarge } from "../status.ts"
import { ThreadTime } from "../thread-time.ts"

/** Time on a processor. */
const maxThreadMs = 1_000
/** Steps between two looks at the time: what takes longer than most is as many. */
export const lookEvery = 64

export class Pace {
  #steps = 0
  #time: ThreadTime | undefined

  /** Throws RequestEntityTooLarge when the time is over. */
  spend(steps: number): void {
    this.#steps += steps
    if (this.#steps < lookEvery) return
    this.#steps = 0
    if (this.#time === undefined) this.#time = new ThreadTime(maxThreadMs)
    else if (this.#time.isOver)
      throw requestEntityTooLarge(`Request entity too large: it takes longer than ${maxThreadMs} ms to check it`)
  }
}
