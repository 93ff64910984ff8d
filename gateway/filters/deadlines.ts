// The same time for each of many, with one timer for all: they are due in the order they came.

import { Comings } from "../request/comings.ts"

interface Deadline {
  /** As performance.now() has it. */
  due: number
  expire(): void
}

export class Deadlines {
  readonly #limitMs: number
  readonly #waiting = new Comings<Deadline>()
  #isArmed = false

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** Calls `expire` in time. Answers how that is called off. */
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

  /** The timer runs on when the first is gone: nothing is due then, and it is set anew for the next. */
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
