// Waiting for a condition, with a limit and a message: tests never sleep for a fixed time.

import { setTimeout as delay } from "node:timers/promises"

const defaultTimeoutMs = 60_000
/** Asked often at first; this is the most seldom. */
const maxPollMs = 50

/**
 * Asks again until `condition` answers something other than undefined and false, and returns it. What it throws counts as
 * "not yet"; the last of it is told when time is up.
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
