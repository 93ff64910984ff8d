// Runs many calls that each may fail for a reason of its own.

import type { Pace } from "./activity.ts"

/** Runs `call` for all items, even if some fail, in batches within the given pace. Returns the first error. */
export async function settleAll<T>(
  pace: Pace,
  items: readonly T[],
  call: (item: T) => Promise<void>,
): Promise<unknown> {
  let error: unknown
  for (let next = 0; next < items.length;) {
    const batch = items.slice(next, next + pace.batch)
    next += batch.length
    const began = performance.now()
    for (const result of await Promise.allSettled(batch.map(call))) {
      if (result.status === "rejected") error ??= result.reason
    }
    if (next < items.length) await pace.rest(performance.now() - began)
  }
  return error
}

/** The same one after the other, where the order can be seen. */
export async function settleInOrder<T>(items: Iterable<T>, call: (item: T) => Promise<void>): Promise<unknown> {
  let first: unknown
  for (const item of items) {
    try {
      await call(item)
    } catch (error) {
      first ??= error
    }
  }
  return first
}
