// Many calls that may all fail alike (a quota): in batches that double while they succeed.

/** Upstream starts with one. */
const firstBatch = 1
/**
 * At most so many calls are under way at once: they share one thread with all tenants, and each batch is one commit. More
 * would make the owner's pods no sooner, but everybody else's later.
 */
const largestBatch = 4

/** Runs `call` with 0 … count-1 and returns how many succeeded. The first error is thrown by who reads `error`. */
export async function slowStart(
  count: number,
  call: (index: number) => Promise<void>,
): Promise<{ succeeded: number; error: unknown }> {
  let succeeded = 0
  for (let batch = firstBatch, next = 0; next < count; batch = Math.min(batch * 2, largestBatch)) {
    const size = Math.min(batch, count - next)
    const results = await Promise.allSettled(Array.from({ length: size }, (_, offset) => call(next + offset)))
    next += size
    let error: unknown
    for (const result of results) {
      if (result.status === "fulfilled") succeeded++
      else error ??= result.reason
    }
    if (error !== undefined) return { succeeded, error }
  }
  return { succeeded, error: undefined }
}
