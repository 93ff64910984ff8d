// The backoff of a failing key: base · 2ⁿ, capped. One limiter per queue; keys do not affect each other.
// Source: k8s.io/client-go/util/workqueue/default_rate_limiters.go (ItemExponentialFailureRateLimiter).

const defaultRetryLimits = { baseDelayMs: 5, maxDelayMs: 300_000 } as const

export interface RetryLimits {
  baseDelayMs: number
  maxDelayMs: number
}

export class RateLimiter {
  readonly #limits: RetryLimits
  /** Contains only keys that have failed since their last success. */
  readonly #failures = new Map<string, number>()

  constructor(limits: Partial<RetryLimits> = {}) {
    this.#limits = { ...defaultRetryLimits, ...limits }
  }

  /** Counts a failure and returns the backoff in ms. */
  next(id: string): number {
    const failures = this.#failures.get(id) ?? 0
    this.#failures.set(id, failures + 1)
    // 2 ** 1024 is Infinity, which the cap limits.
    return Math.min(this.#limits.baseDelayMs * 2 ** failures, this.#limits.maxDelayMs)
  }

  retries(id: string): number {
    return this.#failures.get(id) ?? 0
  }

  forget(id: string): void {
    this.#failures.delete(id)
  }
}
