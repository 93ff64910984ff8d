// What the validation of one object may cost: it holds the event loop, and every tenant with it. Upstream validates an object of any
// number of values, each tenant's with processors of its own.

import type { FieldError } from "./field-errors.ts"
import { requestEntityTooLarge } from "./status.ts"
import type { Steps } from "./steps.ts"

export const validationLimits = {
  /** Faults of an object that are told. */
  maxFaults: 10_000,
  /** Paths of values that are looked at: several for each. Beyond: 413. */
  maxPaths: 500_000,
  /** An expression counts as so many. */
  pathsOfExpression: 100,
}

interface Budget {
  paths: number
  readonly found: FieldError[]
}

let current: Budget | undefined

class TooManyFaults extends Error {}

/** Returns the errors that `validate` does, or if there are too many the first ones it comes across. */
export function validateWithinBudget(validate: () => FieldError[]): FieldError[] {
  return within({ paths: 0, found: [] }, validate)
}

/** The same in steps, between which others may validate within budgets of their own. */
export function* validatingWithinBudget(steps: Steps<FieldError[]>): Steps<FieldError[]> {
  const budget: Budget = { paths: 0, found: [] }
  for (;;) {
    const step = within(budget, () => steps.next())
    if (Array.isArray(step)) return step
    if (step.done === true) return step.value
    yield
  }
}

function within<T>(budget: Budget, work: () => T): T | FieldError[] {
  current = budget
  try {
    return work()
  } catch (error) {
    if (error instanceof TooManyFaults) return budget.found
    throw error
  } finally {
    current = undefined
  }
}

/** Each path calls it, and with more what takes much longer. */
export function countPath(count = 1): void {
  if (current !== undefined && (current.paths += count) > validationLimits.maxPaths)
    throw requestEntityTooLarge("Request entity too large: it has more values than can be validated")
}

/** Each error calls it. */
export function countFault(error: FieldError): void {
  if (current === undefined) return
  if (current.found.length >= validationLimits.maxFaults) throw new TooManyFaults()
  current.found.push(error)
}
