// Goes through what is read into memory at once: a tenant may have a hundred thousand Events or pods, and others are served meanwhile.

import { setImmediate as nextTurn } from "node:timers/promises"
import { inSteps, type Steps } from "../apimachinery/steps.ts"

/** Other work has its turn after this time. */
const stretchMs = 1

export async function inTurns<T>(items: readonly T[], take: (item: T) => void): Promise<void> {
  let began = performance.now()
  for (const item of items) {
    take(item)
    if (performance.now() - began < stretchMs) continue
    await nextTurn()
    began = performance.now()
  }
}

/** The same with work in steps. Returns a promise only if it took long. */
export function stepsInTurns<T>(steps: Steps<T>): T | Promise<T> {
  let began = performance.now()
  return inSteps(steps, () => {
    if (performance.now() - began < stretchMs) return undefined
    return nextTurn().then(() => void (began = performance.now()))
  })
}
