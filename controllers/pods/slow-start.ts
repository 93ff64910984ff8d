// Many calls that may all fail alike (a quota): in batches that double while they succeed, at the pace others leave.

import type { Pace } from "../activity.ts"

/** Upstream starts with one. */
const firstBatch = 1

/** Runs `call` with 0 … count-1 and returns how many succeeded. The first error is thrown by who reads `error`. */
export async function slowStart(
  pace: Pace,
  count: number,
  call: (index: number) => Promise<void>,
): Promise<{ succeeded: number; error: unknown }> {
  let succeeded = 0
  for (let batch = firstBatch, next = 0; next < count; batch *= 2) {
    batch = Math.min(batch, pace.batch)
    const size = Math.min(batch, count - next)
    const began = performance.now()
    const results = await Promise.allSettled(Array.from({ length: size }, (_, offset) => call(next + offset)))
    next += size
    let error: unknown
    for (const result of results) {
      if (result.status === "fulfilled") succeeded++
      else error ??= result.reason
    }
    if (error !== undefined) return { succeeded, error }
    if (next < count) await pace.rest(performance.now() - began)
  }
  return { succeeded, error: undefined }
}

/** Runs `call` for all, whether others fail or not. Answers the first error. */
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
