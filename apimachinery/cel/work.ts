// Work inside single operations. Macros make lists of which each contains the previous one twice: a hundred of them cost next to
// nothing, but comparing or printing the last one goes through 2¹⁰⁰ items. Whatever goes through nested values calls step().

import { ThreadTime } from "../thread-time.ts"

/**
 * Processor time after which an evaluation is interrupted, just as upstream interrupts it when its request times out. The cost
 * does not limit how long it blocks the shared thread, since some cheap operations take time (the length of a long text, times of
 * a zone). An expression with the maximum cost takes 50 ms, on a slow machine and for the first time more than five times as long:
 * what is answered must not depend on that. A tenant that uses it again and again has to rest (gateway/request/thread-debts.ts).
 */
export const maxThreadMs = 1_000

/** Steps between two time checks: less than a millisecond. */
const lookEvery = 4096

export class Interrupted extends Error {
  constructor() {
    super(`operation interrupted: it takes longer than ${maxThreadMs} ms`)
  }
}

/** Of the evaluation that is under way, with those of the variables that it uses. */
let depth = 0
let steps = 0
let time: ThreadTime | undefined

export function begin(): void {
  if (depth++ > 0) return
  steps = 0
  time = undefined
}

/** In any case after begin(). */
export function end(): void {
  depth--
}

/** Throws Interrupted. */
export function step(): void {
  if (++steps % lookEvery !== 0 || depth === 0) return
  if (time === undefined) time = new ThreadTime(maxThreadMs)
  else if (time.isOver) throw new Interrupted()
}
