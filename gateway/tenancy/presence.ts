// Tracks the current uses of a control plane, the time of the last one, and who expects it to be awake, which determine when it may fall
// asleep.

export class Presence {
  readonly tenant: string | undefined
  #uses = 0
  #expectations = 0
  #last = -Infinity

  /** `tenant`: its name, if it is a tenant's. */
  constructor(tenant?: string) {
    this.tenant = tenant
  }

  /** Begins a use, which ends when the returned function is called, once. If `counts` is false, it leaves the time unchanged. */
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

  /** Begins a time in which it should be awake, also unused: it ends when the returned function is called, once. */
  expect(): () => void {
    this.#expectations++
    return () => {
      this.#expectations--
    }
  }

  get isExpected(): boolean {
    return this.#expectations > 0
  }

  /** Records a use at this moment. */
  touch(): void {
    this.#last = performance.now()
  }

  get isInUse(): boolean {
    return this.#uses > 0
  }

  /** Milliseconds since the last use; 0 during a use. */
  get idleMs(): number {
    return this.isInUse ? 0 : performance.now() - this.#last
  }

  /** For sorting: a smaller value is a less recent use. */
  get lastUsed(): number {
    return this.#last
  }
}
