// A clock that only tests advance.

import type { Clock, Timer } from "../clock.ts"

interface Pending extends Timer {
  due: number
  call(): void
}

export class FakeClock implements Clock {
  #now: number
  readonly #pending = new Set<Pending>()

  constructor(now = Date.parse("2026-01-01T00:00:00Z")) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  /** Number of pending timers. */
  get timers(): number {
    return this.#pending.size
  }

  after(ms: number, call: () => void): Timer {
    const pending: Pending = {
      due: this.#now + Math.max(0, ms),
      call,
      cancel: () => this.#pending.delete(pending),
    }
    this.#pending.add(pending)
    return pending
  }

  /** Advances the clock and fires all timers that become due, in order, including those set meanwhile. */
  advance(ms: number): void {
    const end = this.#now + ms
    for (;;) {
      let first: Pending | undefined
      for (const pending of this.#pending) {
        if (pending.due <= end && (first === undefined || pending.due < first.due)) first = pending
      }
      if (first === undefined) break
      this.#pending.delete(first)
      this.#now = Math.max(this.#now, first.due)
      first.call()
    }
    this.#now = end
  }
}
