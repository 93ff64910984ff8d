// A short-lived cache for repeated access within a short time. The keys may live much longer, as a store's changes do for late
// watches, but their values take many times their memory and are then computed again.

export class Recent<K extends object, V> {
  readonly #keptMs: number
  readonly #now: () => number
  #young = new WeakMap<K, V>()
  #old: WeakMap<K, V> | undefined
  #since: number

  /** A value is kept for at least `keptMs`. It is dropped by a call of set() after twice that time, or with its key. */
  constructor(keptMs: number, now: () => number = () => performance.now()) {
    this.#keptMs = keptMs
    this.#now = now
    this.#since = now()
  }

  get(key: K): V | undefined {
    return this.#young.get(key) ?? this.#old?.get(key)
  }

  set(key: K, value: V): void {
    const now = this.#now()
    if (now - this.#since >= this.#keptMs) {
      this.#old = now - this.#since < 2 * this.#keptMs ? this.#young : undefined
      this.#young = new WeakMap()
      this.#since = now
    }
    this.#young.set(key, value)
  }
}
