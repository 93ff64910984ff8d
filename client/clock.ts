// An injected clock, which tests control (client/testing/fake-clock.ts).

export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Milliseconds since some moment. Unlike now(), no correction of the system's clock changes them: for delays. */
  elapsed(): number
  /** Calls `call` once, not before `ms` have passed. Never keeps the process alive. */
  after(ms: number, call: () => void): Timer
}

/** Node fires timers with a longer delay immediately, so longer waits are split. */
const longestTimer = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(ms, call) {
    let timer: NodeJS.Timeout
    const wait = (left: number): void => {
      const next = left > longestTimer ? () => wait(left - longestTimer) : call
      timer = setTimeout(next, Math.min(Math.max(0, left), longestTimer)).unref()
    }
    wait(ms)
    return { cancel: () => clearTimeout(timer) }
  },
}

/** Resolves when the signal is aborted, also if it was aborted before. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }))
}

/** Resolves after `ms`, or at once when the signal ends. Never rejects: the caller checks the signal. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const finish = (): void => {
      timer.cancel()
      signal.removeEventListener("abort", finish)
      resolve()
    }
    const timer = clock.after(ms, finish)
    signal.addEventListener("abort", finish, { once: true })
  })
}

/** Resolves with true when the work has ended, or with false after `ms`. Rejects if it fails before. */
export async function endsWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  const over = new AbortController()
  const late = pause(clock, ms, over.signal).then(() => false)
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    over.abort()
  }
}
