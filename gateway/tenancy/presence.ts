// Tracks the current uses of a control plane, the time of the last one, and who watches its node leases, which determine when it may fall
// asleep.

export class Presence {
  readonly tenant: string | undefined
  #uses = 0
  #leaseWatches = 0
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

  /** Begins a watch of the leases of its nodes, which ends when the returned function is called, once. */
  watchLeases(): () => void {
    this.#leaseWatches++
    return () => {
      this.#leaseWatches--
    }
  }

  get hasLeaseWatches(): boolean {
    return this.#leaseWatches > 0
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
