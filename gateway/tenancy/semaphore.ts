// Limits concurrent work; the rest is queued.

export class Semaphore {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(places: number) {
    this.#free = places
  }

  /** `first`: ahead of all queued work. */
  async run<T>(work: () => Promise<T>, { first = false } = {}): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => (first ? this.#waiting.unshift(resolve) : this.#waiting.push(resolve)))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}
