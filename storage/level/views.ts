// The committed state of one store for all reads of its database. While a batch is being written, reads need the state
// before it, from a view taken earlier. If all current values are resident, no view is taken, and reads of the past
// wait for the batch.

import type { StoreLimits } from "../limits.ts"
import type { BaseLayer, KeyValue, Revision } from "../types.ts"
import { accessError, type Database } from "./database.ts"
import { readCurrent, View } from "./view.ts"

/** The parts of the store that they need. */
interface ViewedStore {
  base: BaseLayer
  limits: StoreLimits
  /** The open database. */
  database(): Database
  head(): Revision
}

export class Views {
  readonly #store: ViewedStore
  /** Shared by all reads since the last commit. */
  #view: View | undefined
  /** Resolves when the current batch has been written. */
  #committing: Promise<void> | undefined

  constructor(store: ViewedStore) {
    this.#store = store
  }

  /** Reads from one state of the database, regardless of concurrent writes. */
  async read<T>(read: (view: View) => Promise<T>): Promise<T> {
    while (this.#view === undefined && this.#committing !== undefined) await this.#committing
    const view = this.#current()
    try {
      return await view.read(read)
    } catch (error) {
      throw accessError(error, view.database.location)
    }
  }

  readCurrent(key: string): KeyValue | undefined {
    const database = this.#store.database()
    const snapshot = this.#committing === undefined ? undefined : this.#view?.snapshot
    try {
      return readCurrent(database, this.#store.base, key, snapshot)
    } catch (error) {
      throw accessError(error, database.location)
    }
  }

  /** `isRead`: current values are read from the database. When `write` resolves, the store's head includes the batch. */
  async during(isRead: boolean, write: () => Promise<void>): Promise<void> {
    if (isRead) this.#current()
    const { promise, resolve: end } = Promise.withResolvers<void>()
    this.#committing = promise
    try {
      await write()
      this.#retire()
    } finally {
      this.#committing = undefined
      end()
    }
  }

  /** History has been removed, so older views are outdated. */
  dropped(): void {
    if (this.#committing === undefined) this.#retire()
  }

  /** The database has been closed, including its snapshots. */
  forget(): void {
    this.#view = undefined
  }

  #current(): View {
    const { base, limits } = this.#store
    this.#view ??= new View(this.#store.database(), base, limits, this.#store.head())
    return this.#view
  }

  #retire(): void {
    this.#view?.retire()
    this.#view = undefined
  }
}
