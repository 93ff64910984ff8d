// Waits for a condition, with a timeout and a message: tests never sleep for a fixed time.

import { setTimeout as delay } from "node:timers/promises"

const defaultTimeoutMs = 60_000
/** The longest interval between two checks; it starts shorter. */
const maxPollMs = 50

/**
 * Repeats until `condition` returns something other than undefined and false, and returns it. Exceptions count as "not yet"; the
 * last one is reported on timeout.
 */
export async function eventually<T>(
  condition: () => Promise<T | undefined | false> | T | undefined | false,
  { timeoutMs = defaultTimeoutMs, what = "the condition" }: { timeoutMs?: number; what?: string } = {},
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (let pollMs = 1; ; pollMs = Math.min(pollMs + 1, maxPollMs)) {
    let failure: unknown
    try {
      const answer = await condition()
      if (answer !== undefined && answer !== false) return answer
    } catch (error) {
      failure = error
    }
    if (performance.now() > deadline) {
      throw new Error(`not within ${timeoutMs} ms: ${what}`, { cause: failure })
    }
    await delay(pollMs)
  }
}
