// How long to wait before another attempt.

/** In milliseconds: after the first failure, and at most. */
export interface BackoffDelays {
  first: number
  longest: number
}

/** For a server that does not respond, or a watch that fails. */
export const reconnectDelays: BackoffDelays = { first: 200, longest: 30_000 }

/**
 * Milliseconds to wait after so many consecutive failures, from 1: doubled each time, with a random addition of up to half, which
 * prevents a thousand clients from coming back to a restarted server at the same time.
 */
export function backoff(failures: number, { first, longest } = reconnectDelays): number {
  return Math.min(first * 2 ** (failures - 1), longest) * (1 + Math.random() / 2)
}
