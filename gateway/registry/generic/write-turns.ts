// Writes of one object that have lost against others several times go on one after the other: among many at once the last ones would
// otherwise lose each time.

import type { Store } from "../../../storage/types.ts"

export class WriteTurns {
  /** By key: the end of the last turn that has been asked for. */
  readonly #last = new WeakMap<Store, Map<string, Promise<void>>>()

  /** Resolves when it is the caller's turn, with the function that ends it. */
  async take(store: Store, key: string): Promise<() => void> {
    let ends = this.#last.get(store)
    if (ends === undefined) this.#last.set(store, (ends = new Map()))
    const own = ends
    const before = own.get(key)
    const { promise, resolve } = Promise.withResolvers<void>()
    own.set(key, promise)
    await before
    return () => {
      if (own.get(key) === promise) own.delete(key)
      resolve()
    }
  }
}
