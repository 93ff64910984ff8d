// Who uses a control plane now, and when somebody last did: what decides when it may fall asleep.

export class Presence {
  #uses = 0
  #last = -Infinity

  /** Until the answer is called, once, it is in use. `counts` false: then it is as if it had not been. */
  enter(counts = true): () => void {
    this.#uses++
    let left = false
    return () => {
      if (left) return
      left = true
      this.#uses--
      if (counts) this.touch()
    }
  }

  /** It was used just now. */
  touch(): void {
    this.#last = performance.now()
  }

  get isInUse(): boolean {
    return this.#uses > 0
  }

  /** Milliseconds since it was last used; 0 while it is. */
  get idleMs(): number {
    return this.isInUse ? 0 : performance.now() - this.#last
  }

  /** For order among presences: the smaller, the longer ago. */
  get lastUsed(): number {
    return this.#last
  }
}
