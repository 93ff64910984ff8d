// The same time for each of many, with one timer for all: they are due in the order they came.

export interface Deadline {
  /** As performance.now() has it. */
  due: number
  expire(): void
}

export class Deadlines {
  readonly #limitMs: number
  readonly #waiting = new Set<Deadline>()
  #isArmed = false

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** Calls `expire` in time unless it is removed before. */
  add(expire: () => void): Deadline {
    const deadline = { due: performance.now() + this.#limitMs, expire }
    this.#waiting.add(deadline)
    if (!this.#isArmed) this.#arm(this.#limitMs)
    return deadline
  }

  remove(deadline: Deadline): void {
    this.#waiting.delete(deadline)
  }

  /** The timer runs on when the first is gone: nothing is due then, and it is set anew for the next. */
  #arm(ms: number): void {
    this.#isArmed = true
    setTimeout(() => this.#fire(), Math.max(1, Math.ceil(ms))).unref()
  }

  #fire(): void {
    this.#isArmed = false
    const now = performance.now()
    for (const deadline of this.#waiting) {
      if (deadline.due > now) {
        this.#arm(deadline.due - now)
        return
      }
      this.#waiting.delete(deadline)
      deadline.expire()
    }
  }
}
