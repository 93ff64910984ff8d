// Limits how many requests of one control plane do the same at the same time. Further ones wait, in the order of their arrival and within
// their time.

/** A request. */
interface Holder {
  /** Calls back once, when the request has ended or gives its place back; at once if it has. */
  whenDone(callback: () => void): void
}

export class Places {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor(places: number) {
    this.#free = places
  }

  get isFull(): boolean {
    return this.#free === 0
  }

  /** The number of requests that wait. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Returns undefined if it has a place now; otherwise the promise resolves with the place, or when the request has ended. */
  take(holder: Holder): Promise<void> | undefined {
    if (this.#free > 0) {
      this.#free--
      this.#giveBackOf(holder)
      return undefined
    }
    return new Promise((resolve) => {
      const call = (): void => {
        this.#giveBackOf(holder)
        resolve()
      }
      this.#waiting.add(call)
      holder.whenDone(() => {
        if (this.#waiting.delete(call)) resolve()
      })
    })
  }

  /** The place goes directly to the request that has waited longest. */
  #giveBackOf(holder: Holder): void {
    holder.whenDone(() => {
      const [next] = this.#waiting
      if (next === undefined) this.#free++
      else {
        this.#waiting.delete(next)
        next()
      }
    })
  }
}
