// Runs many calls that each may fail for a reason of its own, in batches within the given pace.

import type { Pace } from "./activity.ts"

/** Runs `call` for all items, even if some fail. Returns the first error. */
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
