// The same timeout for many entries, with one timer for all of them: they expire in the order in which they were added.

import { Arrivals } from "./arrivals.ts"

interface Deadline {
  /** In terms of performance.now(). */
  due: number
  expire(): void
}

export class Deadlines {
  readonly #limitMs: number
  readonly #waiting = new Arrivals<Deadline>()
  #isArmed = false

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** Calls `expire` after the timeout. Returns a function that cancels it. */
  add(expire: () => void): () => void {
    const remove = this.#waiting.add({
      due: performance.now() + this.#limitMs,
      expire() {
        remove()
        expire()
      },
    })
    if (!this.#isArmed) this.#arm(this.#limitMs)
    return remove
  }

  /** The timer is not cancelled with its entry: it then finds nothing expired and is set again for the next entry. */
  #arm(ms: number): void {
    this.#isArmed = true
    setTimeout(() => this.#fire(), Math.max(1, Math.ceil(ms))).unref()
  }

  #fire(): void {
    this.#isArmed = false
    const now = performance.now()
    for (let { first } = this.#waiting; first !== undefined; { first } = this.#waiting) {
      if (first.due > now) return this.#arm(first.due - now)
      first.expire()
    }
  }
}
