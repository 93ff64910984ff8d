// Work on large objects in steps, with turns for other work between them. For small objects the overhead is negligible.

export type Steps<T> = Generator<void, T, void>

/** Number of names or items that one step handles, where it does little with each. */
export const mostAtOnce = 1000

/**
 * Steps to one result that several need. Whoever waits for it takes the next ones in turn with the others, so that it is made once, also if
 * some of them give up. It begins again after an error.
 */
export class SharedSteps<T extends object> {
  readonly #begin: () => Steps<T>
  #underWay: Steps<T> | undefined
  #made: T | undefined

  constructor(begin: () => Steps<T>) {
    this.#begin = begin
  }

  /** Undefined if not all steps have been taken. */
  get made(): T | undefined {
    return this.#made
  }

  *taking(): Steps<T> {
    while (this.#made === undefined) {
      const steps = this.#underWay ?? this.#begin()
      this.#underWay = undefined // until it is known that there was no error
      const step = steps.next()
      if (step.done === true) {
        this.#made = step.value
      } else {
        this.#underWay = steps
        yield
      }
    }
    return this.#made
  }
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
