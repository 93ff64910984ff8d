// A clock that only tests advance.

import type { Clock, Timer } from "../clock.ts"

interface Pending extends Timer {
  due: number
  call(): void
}

export class FakeClock implements Clock {
  /** Of now() while nothing has elapsed. */
  #start: number
  #elapsed = 0
  readonly #pending = new Set<Pending>()

  constructor(now = Date.parse("2026-01-01T00:00:00Z")) {
    this.#start = now
  }

  now(): number {
    return this.#start + this.#elapsed
  }

  elapsed(): number {
    return this.#elapsed
  }

  /** Sets the clock forward or back, which is not felt by timers. */
  correct(ms: number): void {
    this.#start += ms
  }

  /** Number of pending timers. */
  get timers(): number {
    return this.#pending.size
  }

  after(ms: number, call: () => void): Timer {
    const pending: Pending = {
      due: this.#elapsed + Math.max(0, ms),
      call,
      cancel: () => this.#pending.delete(pending),
    }
    this.#pending.add(pending)
    return pending
  }

  /** Advances the clock and fires all timers that become due, in order, including those set meanwhile. */
  advance(ms: number): void {
    const end = this.#elapsed + ms
    for (;;) {
      let first: Pending | undefined
      for (const pending of this.#pending) {
        if (pending.due <= end && (first === undefined || pending.due < first.due)) first = pending
      }
      if (first === undefined) break
      this.#pending.delete(first)
      this.#elapsed = Math.max(this.#elapsed, first.due)
      first.call()
    }
    this.#elapsed = end
  }
}
