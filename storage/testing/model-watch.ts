// One watch of a store under random operations, whose events are those of the model. It stays open during compactions: it delivers
// everything, or ends with Compacted if it has not yet delivered what is gone.

import { expect } from "vitest"
import { hasCode, type Store, type StoreEvent, type Watcher, type WatchOptions } from "../types.ts"
import { type Model, showEvent } from "./model-state.ts"

type Batch = IteratorResult<readonly StoreEvent[], undefined>

export class ModelWatch {
  readonly #watcher: Watcher
  readonly #iterator: AsyncIterator<readonly StoreEvent[], undefined>
  readonly #isOf: (key: string) => boolean
  readonly #found: string[] = []
  readonly #after: number
  /** A read that has begun. */
  #next: Promise<Batch> | undefined

  constructor(store: Store, prefix: string, options: WatchOptions) {
    const { after, concerns } = options
    this.#watcher = store.watch(prefix, options)
    this.#iterator = this.#watcher[Symbol.asyncIterator]() as AsyncIterator<readonly StoreEvent[], undefined>
    this.#isOf = (key) => key.startsWith(prefix) && (concerns === undefined || concerns(key))
    this.#after = after
  }

  /** Starts to read the next events, which may come later. */
  begin(): void {
    if (this.#next !== undefined) return
    this.#next = this.#iterator.next()
    this.#next.catch(() => undefined) // reported by readAll
  }

  /** Reads all events up to now. Returns whether the watch continues. */
  async readAll({ events, compacted }: Model): Promise<boolean> {
    const expected = events.filter(({ revision, key }) => revision > this.#after && this.#isOf(key))
    try {
      while (this.#found.length < expected.length) {
        this.begin()
        const batch = await this.#next
        this.#next = undefined
        expect(batch?.done, "the watch has ended").not.toBe(true)
        this.#found.push(...(batch?.value ?? []).map(showEvent))
      }
    } catch (error) {
      if (!hasCode(error, "Compacted")) throw error
      expect(this.#watcher.revision).toBeLessThanOrEqual(compacted)
      expect(this.#found).toEqual(expected.slice(0, this.#found.length).map(({ text }) => text))
      return false
    }
    expect(this.#found).toEqual(expected.map(({ text }) => text))
    return true
  }

  close(): void {
    this.#watcher.close()
  }
}
