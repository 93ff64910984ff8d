// What was made of keys not long ago, for those who ask for the same again right after. Keys may live much longer, as a store's
// changes do for who comes late: what is made of them weighs many times what they do, and is made again then.

export class Recent<K extends object, V> {
  readonly #keptMs: number
  readonly #now: () => number
  #young = new WeakMap<K, V>()
  #old: WeakMap<K, V> | undefined
  #since: number

  /** What is set is there for `keptMs`, and goes when something is set twice as long after it, or with its key. */
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
