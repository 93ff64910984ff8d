// Runs many calls that may all fail for the same reason (a quota), in batches that double while they succeed, within the given
// pace.

import type { Pace } from "../activity.ts"

/** As upstream. */
const firstBatch = 1

export interface SlowStartOptions {
  /**
   * Batches double without a limit, as upstream's, and are finished even if a call fails: for calls that fail each for a reason of
   * its own. The pace limits how many are in progress all the same.
   */
  isWhole?: true
}

/** Runs `call` with 0 … count-1. Returns the number of successful calls and the first error, which the caller may throw. */
export async function slowStart(
  pace: Pace,
  count: number,
  call: (index: number) => Promise<void>,
  { isWhole }: SlowStartOptions = {},
): Promise<{ succeeded: number; error: unknown }> {
  let succeeded = 0
  for (let batch = firstBatch, next = 0; next < count; batch *= 2) {
    if (isWhole !== true) batch = Math.min(batch, pace.batch)
    const end = Math.min(next + batch, count)
    let error: unknown
    while (next < end) {
      const size = Math.min(pace.batch, end - next)
      const began = performance.now()
      const results = await Promise.allSettled(Array.from({ length: size }, (_, offset) => call(next + offset)))
      next += size
      for (const result of results) {
        if (result.status === "fulfilled") succeeded++
        else error ??= result.reason
      }
      if (next < (error === undefined ? count : end)) await pace.rest(performance.now() - began)
    }
    if (error !== undefined) return { succeeded, error }
  }
  return { succeeded, error: undefined }
}
