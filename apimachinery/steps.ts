// Work on something large, in steps: between two of them others may have their turn. For what is small it costs next to nothing.

export type Steps<T> = Generator<void, T, void>

/** Without a break. */
export function atOnce<T>(steps: Steps<T>): T {
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  return step.value
}

/** Asks `pause` between two steps, which answers undefined, or when to go on. A promise only if there was something to wait for. */
export function inSteps<T>(steps: Steps<T>, pause: (() => Promise<void> | undefined) | undefined): T | Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    const waiting = pause?.()
    if (waiting !== undefined) return waiting.then(() => inSteps(steps, pause))
  }
}
