// A thousand watches may wait for one change, and each starts to process it as soon as it is notified. They are notified in
// batches, one per turn of the event loop, so that other work need not wait for all of them.

/** Watches notified per turn of the event loop. */
const wokenAtOnce = 32

export interface Sleeper {
  /** Must not throw. */
  wake(): void
}

/** Holds each sleeper at most once, provided that it does not add itself again before it has been woken. */
export class Wakes {
  #waiting: Sleeper[] = []
  /** Sleepers before this index have been woken. */
  #next = 0
  #left = wokenAtOnce
  #isScheduled = false

  /** Wakes the sleeper at once or in a later turn of the event loop, in the order of the calls. */
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
    // Releases woken sleepers, even if there are always others waiting.
    if (this.waiting < this.#next) {
      this.#waiting.splice(0, this.#next)
      this.#next = 0
    }
  }
}
