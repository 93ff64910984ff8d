// Manages whether a store's current values are in memory (resident.ts). Those of a small store are loaded when it opens. Those of
// a large store are loaded by the first list if the process has room, and dropped when they outgrow it.

import type { BaseLayer, StoreEvent } from "../types.ts"
import type { Database } from "./database.ts"
import type { TableEntry } from "./image.ts"
import { type Loaded, Resident, type ResidentBudget, weigh } from "./resident.ts"
import type { View } from "./view.ts"

export interface ResidencyParts {
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
  /** When there was no room for it, it weighed at least so much, estimated; what has been deleted since is taken off. */
  #outgrown = 0
  #closed = false

  constructor(parts: ResidencyParts) {
    this.#parts = parts
  }

  /** The committed state; undefined: it must be read from the database. */
  get current(): Resident | undefined {
    return this.#current
  }

  /** Nothing is in the database yet. */
  beginEmpty(): void {
    this.#current = new Resident(this.#parts.base, this.#parts)
  }

  /** What is small enough lies in the image of a store. Whether it is. */
  beginWith(entries: Iterable<TableEntry>): boolean {
    const { base, ownBytes } = this.#parts
    this.#current = Resident.of(entries, base, { ownBytes, budget: undefined })
    return this.#current !== undefined
  }

  /** A database that has just been opened: what is small is kept. What was here answers until then; `taken` is told in that turn. */
  async open(database: Database, taken: () => void = () => undefined): Promise<void> {
    const { base, ownBytes } = this.#parts
    const { resident } = await Resident.load(database, base, { ownBytes, budget: undefined })
    this.drop()
    this.#current = resident
    taken()
  }

  /** In the same turn as the store's head moves. */
  committed(events: readonly StoreEvent[]): void {
    this.#promotion?.events.push(...events)
    if (this.#outgrown > 0) this.#shrink(events)
    if (this.#current?.apply(events) === false) this.#giveUp(this.#current.bytes)
  }

  #shrink(events: readonly StoreEvent[]): void {
    for (const { previous } of events) if (previous !== undefined) this.#outgrown -= weigh(previous)
  }

  /** Lists read it from the database, until there is more room or it has become less. */
  #giveUp(bytes: number): void {
    this.drop()
    this.#outgrown = bytes
  }

  /** What is here, or is being read, may not be true any more, or has outgrown its place. */
  drop(): void {
    this.#current?.release()
    this.#current = undefined
    this.#promotion = undefined
  }

  /** Somebody lists: lists go on from the database until everything has been read. `read` answers from one view. */
  promote(read: (load: (view: View) => Promise<Loaded>) => Promise<Loaded>): void {
    if (this.#current !== undefined || this.#promotion !== undefined || this.#closed) return
    const { budget, ownBytes } = this.#parts
    if (!budget.hasRoomFor(Math.max(0, this.#outgrown - ownBytes))) return
    const promotion: Promotion = { events: [], done: Promise.resolve() }
    this.#promotion = promotion
    promotion.done = read(({ database, base, snapshot }) => Resident.load(database, base, this.#parts, snapshot)).then(
      (loaded) => this.#finish(promotion, loaded),
      // The disk refuses, or the store closes: whoever reads next is told.
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

  /** Whether its result is still wanted. */
  #end(promotion: Promotion): boolean {
    if (this.#promotion !== promotion) return false
    this.#promotion = undefined
    return !this.#closed
  }

  /** Resolves when nothing is being read any more. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#promotion?.done
    this.drop()
  }
}
