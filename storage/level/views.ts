// The committed state of one store for all reads of its database. While a batch is being written, reads need the state
// before it, from a view taken earlier. If all current values are resident, no view is taken, and reads of the past
// wait for the batch.

import type { StoreLimits } from "../limits.ts"
import type { BaseLayer, KeyValue, Revision } from "../types.ts"
import { accessError, type Database } from "./database.ts"
import { readCurrent, View } from "./view.ts"

/** What they need of their store. */
export interface ViewedStore {
  base: BaseLayer
  limits: StoreLimits
  /** It is open. */
  database(): Database
  head(): Revision
}

export class Views {
  readonly #store: ViewedStore
  /** Shared by all reads since the last commit. */
  #view: View | undefined
  /** Ends when the batch under way has. */
  #committing: Promise<void> | undefined

  constructor(store: ViewedStore) {
    this.#store = store
  }

  /** From one state of the database, whatever is written meanwhile. */
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

  /** `isRead`: what is current is read from the database. `write` ends with the store's head where the batch has moved it. */
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

  /** What was readable is not any more. */
  dropped(): void {
    if (this.#committing === undefined) this.#retire()
  }

  /** The database has been closed, and its snapshots with it. */
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
