import type { RequestStep, Step } from "../scenario.ts"

/** Makes titles unique, so that a difference identifies its step. A step keeps a title of its own. */
export function titled<T extends Step>(steps: readonly T[]): T[] {
  return steps.map((step, index) => ("watch" in step ? step : { ...step, label: step.label ?? labelOf(step, index) }))
}

function labelOf({ method, path }: RequestStep, index: number): string {
  return `${index} ${method} ${path}`.slice(0, 200)
}
