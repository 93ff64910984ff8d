// Manages whether a store's current values are in memory (resident.ts). Those of a small store are loaded when it opens. Those of
// a large store are loaded by the first list if the process has room, and dropped when they outgrow it.

import type { BaseLayer, StoreEvent } from "../types.ts"
import type { Database } from "./database.ts"
import type { TableEntry } from "./image.ts"
import { type Loaded, Resident, type ResidentBudget, weigh } from "./resident.ts"
import type { View } from "./view.ts"

interface ResidencyParts {
  base: BaseLayer
  /** Bytes that every store may keep. */
  ownBytes: number
  /** The budget from which a large store gets more. */
  budget: ResidentBudget
}

interface Promotion {
  /** Changes committed since loading began. */
  events: StoreEvent[]
  done: Promise<void>
}

export class Residency {
  readonly #parts: ResidencyParts
  #current: Resident | undefined
  #promotion: Promotion | undefined
  /** A lower bound of the estimated size when there was no room; deletions since then are subtracted. */
  #outgrown = 0
  #closed = false

  constructor(parts: ResidencyParts) {
    this.#parts = parts
  }

  /** The committed state; undefined if it must be read from the database. */
  get current(): Resident | undefined {
    return this.#current
  }

  /** The database is still empty. */
  beginEmpty(): void {
    this.#current = new Resident(this.#parts.base, this.#parts)
  }

  /** Loads the entries of the store's image. Returns whether they were small enough. */
  beginWith(entries: Iterable<TableEntry>): boolean {
    const { base, ownBytes } = this.#parts
    this.#current = Resident.of(entries, base, { ownBytes, budget: undefined })
    return this.#current !== undefined
  }

  /**
   * Loads a database that has just been opened, if it is small enough. The previous values serve reads until then; `taken` is
   * called in the same turn as the replacement.
   */
  async open(database: Database, taken: () => void = () => undefined): Promise<void> {
    const { base, ownBytes } = this.#parts
    const { resident } = await Resident.load(database, base, { ownBytes, budget: undefined })
    this.drop()
    this.#current = resident
    taken()
  }

  /** Called in the same turn as the store's head changes. */
  committed(events: readonly StoreEvent[]): void {
    this.#promotion?.events.push(...events)
    if (this.#outgrown > 0) this.#shrink(events)
    if (this.#current?.apply(events) === false) this.#giveUp(this.#current.bytes)
  }

  #shrink(events: readonly StoreEvent[]): void {
    for (const { previous } of events) if (previous !== undefined) this.#outgrown -= weigh(previous)
  }

  /** Lists read from the database until there is more room or the store has become smaller. */
  #giveUp(bytes: number): void {
    this.drop()
    this.#outgrown = bytes
  }

  /** Drops the values and ends a load in progress: they may be outdated, or have outgrown their room. */
  drop(): void {
    this.#current?.release()
    this.#current = undefined
    this.#promotion = undefined
  }

  /** Called by lists, which read from the database until everything has been loaded. `read` provides one consistent view. */
  promote(read: (load: (view: View) => Promise<Loaded>) => Promise<Loaded>): void {
    if (this.#current !== undefined || this.#promotion !== undefined || this.#closed) return
    const { budget, ownBytes } = this.#parts
    if (!budget.hasRoomFor(Math.max(0, this.#outgrown - ownBytes))) return
    const promotion: Promotion = { events: [], done: Promise.resolve() }
    this.#promotion = promotion
    promotion.done = read(({ database, base, snapshot }) => Resident.load(database, base, this.#parts, snapshot)).then(
      (loaded) => this.#finish(promotion, loaded),
      // The disk has failed, or the store is closing: the next reader gets the error.
      () => void this.#end(promotion),
    )
  }

  #finish(promotion: Promotion, { resident, bytes }: Loaded): void {
    if (!this.#end(promotion)) return resident?.release()
    if (resident?.apply(promotion.events) === true) this.#current = resident
    else {
      resident?.release()
      this.#outgrown = resident?.bytes ?? bytes
    }
  }

  /** Returns whether the result is still wanted. */
  #end(promotion: Promotion): boolean {
    if (this.#promotion !== promotion) return false
    this.#promotion = undefined
    return !this.#closed
  }

  /** Resolves when no load is in progress. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#promotion?.done
    this.drop()
  }
}
