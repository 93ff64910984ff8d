// When a group begins. Writers whose group has been flushed come back together with their next writes. A group that began with the
// first of them would leave the others to a second one: twice the flushes, and twice the messages to each watch.

/** How long a group waits for writers, at most. */
const maxWaitMilliseconds = 1

export class GroupPace {
  /** How many wrote at the same time during each of the last two groups: a meeting by chance does not make anyone wait. */
  #last: readonly [number, number] = [1, 1]
  #begin: (() => void) | undefined

  /** Resolves when as many wait as have been writing at the same time, or are not coming. Undefined: it can begin now. */
  company(waiting: number): Promise<void> | undefined {
    if (waiting >= this.#expected) return undefined
    return new Promise((resolve) => {
      const begin = (): void => {
        clearTimeout(timer)
        this.#begin = undefined
        resolve()
      }
      const timer = setTimeout(begin, maxWaitMilliseconds)
      this.#begin = begin
    })
  }

  arrived(waiting: number): void {
    if (waiting >= this.#expected) this.#begin?.()
  }

  /** A group has ended. `waiting`: those who have come meanwhile. */
  ended(group: number, waiting: number): void {
    this.#last = [this.#last[1], group + waiting]
  }

  get #expected(): number {
    return Math.min(...this.#last)
  }
}
