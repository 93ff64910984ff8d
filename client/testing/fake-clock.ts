// A clock that stands still until a test moves it.

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

  /** Timers set and not yet fired. */
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

  /** Moves on, firing what becomes due in order, also what is set on the way. */
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
