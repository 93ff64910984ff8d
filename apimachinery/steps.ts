// Work on large objects in steps, with turns for other work between them. For small objects the overhead is negligible.

export type Steps<T> = Generator<void, T, void>

/** Number of names or items that one step handles, where it does little with each. */
export const mostAtOnce = 1000

/** Steps that have been begun, and how they have failed. */
interface Attempt<T> {
  readonly steps: Steps<T>
  failure?: { readonly error: unknown }
}

/**
 * Steps to one result that several need. Whoever waits for it takes the next ones in turn with the others, so that it is made once, also if
 * some of them give up. An error is that of all who wait; for those who come later it begins again.
 */
export class SharedSteps<T extends object> {
  #begin: () => Steps<T>
  #underWay: Attempt<T> | undefined
  #made: T | undefined

  constructor(begin: () => Steps<T>) {
    this.#begin = begin
  }

  /** Undefined if not all steps have been taken. */
  get made(): T | undefined {
    return this.#made
  }

  *taking(): Steps<T> {
    if (this.#made !== undefined) return this.#made
    const attempt = (this.#underWay ??= { steps: this.#begin() })
    for (;;) {
      const made = this.#made ?? this.#next(attempt)
      if (made !== undefined) return made
      yield
    }
  }

  #next(attempt: Attempt<T>): T | undefined {
    if (attempt.failure !== undefined) throw attempt.failure.error
    try {
      const step = attempt.steps.next()
      if (step.done !== true) return undefined
      this.#made = step.value
    } catch (error) {
      attempt.failure = { error }
      this.#underWay = undefined
      throw error
    }
    this.#underWay = undefined
    this.#begin = beginAgain // what they were made from is not held
    return this.#made
  }
}

function beginAgain(): never {
  throw new Error("all steps have been taken")
}

/** Without a break. */
export function atOnce<T>(steps: Steps<T>): T {
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  return step.value
}

/** Calls `pause` between steps and awaits its result if it is a promise. Returns a promise only if there was one. */
export function inSteps<T>(steps: Steps<T>, pause: (() => Promise<void> | undefined) | undefined): T | Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    const waiting = pause?.()
    if (waiting !== undefined) return waiting.then(() => inSteps(steps, pause))
  }
}
