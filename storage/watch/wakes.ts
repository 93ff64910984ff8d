// A thousand watches may wait for one change, and what each does with it begins as soon as it is told. They are told in
// stretches, so that the event loop turns between: what comes meanwhile, for anybody, need not wait for all of them.

/** Told in one turn of the event loop. */
const wokenAtOnce = 32

export interface Sleeper {
  /** Must not throw. */
  wake(): void
}

/** Holds each sleeper at most once if it does not add itself again before it has been woken. */
export class Wakes {
  #waiting: Sleeper[] = []
  /** Before this index they have been woken. */
  #next = 0
  #left = wokenAtOnce
  #isScheduled = false

  /** Wakes it, at once or in a later turn of the loop: in the order in which they came. */
  add(sleeper: Sleeper): void {
    if (!this.#isScheduled) this.#schedule()
    if (this.#left > 0 && this.waiting === 0) {
      this.#left--
      sleeper.wake()
    } else this.#waiting.push(sleeper)
  }

  get waiting(): number {
    return this.#waiting.length - this.#next
  }

  #schedule(): void {
    this.#isScheduled = true
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#isScheduled = false
    const end = Math.min(this.#next + wokenAtOnce, this.#waiting.length)
    this.#left = wokenAtOnce - (end - this.#next)
    while (this.#next < end) this.#waiting[this.#next++]?.wake()
    if (this.waiting > 0) this.#schedule()
    // Who has been woken is let go, also where somebody is always waiting.
    if (this.waiting < this.#next) {
      this.#waiting.splice(0, this.#next)
      this.#next = 0
    }
  }
}
