// The waiters for the next key of a queue, in order of arrival. A waiter is removed when its signal ends.

interface Waiter<K> {
  signal: AbortSignal
  resolve(key: K | undefined): void
}

export class KeyWaiters<K> implements Disposable {
  readonly #waiters = new Set<Waiter<K>>()
  /** The waiters' signals, with the listener of each. */
  readonly #signals = new Map<AbortSignal, () => void>()

  get size(): number {
    return this.#waiters.size
  }

  /** Resolves to undefined if the signal (which has not ended yet) ends first, or if the queue is closed. */
  wait(signal: AbortSignal): Promise<K | undefined> {
    this.#removeOnAbort(signal)
    return new Promise((resolve) => this.#waiters.add({ signal, resolve }))
  }

  /** Calls `take` if there is a waiter, and passes its result to the first one. */
  serve(take: () => K | undefined): void {
    const [waiter] = this.#waiters
    if (waiter === undefined) return
    this.#waiters.delete(waiter)
    waiter.resolve(take())
  }

  [Symbol.dispose](): void {
    for (const waiter of this.#waiters) waiter.resolve(undefined)
    this.#waiters.clear()
    for (const [signal, stop] of this.#signals) signal.removeEventListener("abort", stop)
    this.#signals.clear()
  }

  /** One listener per signal for all its waiters: many listeners on one signal are slow. */
  #removeOnAbort(signal: AbortSignal): void {
    if (this.#signals.has(signal)) return
    const stop = (): void => {
      this.#signals.delete(signal)
      for (const waiter of this.#waiters) {
        if (waiter.signal !== signal) continue
        this.#waiters.delete(waiter)
        waiter.resolve(undefined)
      }
    }
    this.#signals.set(signal, stop)
    signal.addEventListener("abort", stop, { once: true })
  }
}
