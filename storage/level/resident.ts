// The current values of a store in memory. Reads of the latest state then need no call to LevelDB's thread, which is most of
// the cost of a list of a few objects. Every small store has this, a large one only while the process has room; otherwise it is
// read from LevelDB. The values are the committed state, which changes in one step when a group of transactions is on
// disk.

import type { AbstractSnapshot } from "abstract-level"
import { setTimeout as pause } from "node:timers/promises"
import { baseValue, storedLength } from "../base-layer.ts"
import { compareKeys, prefixEnd, selectKeys } from "../key-order.ts"
import type { BaseLayer, KeyValue, RangeOptions, StoreEvent } from "../types.ts"
import { Cursor } from "./cursor.ts"
import type { Database } from "./database.ts"
import type { TableEntry } from "./image.ts"
import { currentKey, decodeCurrent, encodeCurrent, tables, tombstoneKey } from "./keys.ts"
import { OrderedEntries } from "./ordered-entries.ts"

/** Loading in the background pauses after this many bytes. */
const pieceBytes = 256 * 1024

const nothing = Buffer.alloc(0)

/** Memory per key besides the bytes of key and value: objects, headers, entries in maps. */
const entryOverhead = 200

/** Bytes that a large store requests at once. */
const grantBytes = 1024 * 1024

/** Memory that all large stores of a process may use together, beyond that of each small one. */
export class ResidentBudget {
  #left: number

  constructor(bytes: number) {
    this.#left = bytes
  }

  /** Whether there is room for `bytes` plus one grant. */
  hasRoomFor(bytes: number): boolean {
    return this.#left >= bytes + grantBytes
  }

  take(bytes: number): boolean {
    if (bytes > this.#left) return false
    this.#left -= bytes
    return true
  }

  giveBack(bytes: number): void {
    this.#left += bytes
  }
}

interface ResidentLimits {
  /** Bytes that every store may use. */
  ownBytes: number
  /** The budget from which a large store gets more. Undefined: it gets none. */
  budget: ResidentBudget | undefined
}

export interface Loaded {
  /** Undefined: there is no room for it. */
  resident: Resident | undefined
  /** Estimated size of the data that was read. */
  bytes: number
}

interface Items {
  items: KeyValue[]
  bytes: number
  more: boolean
  remaining?: number
}

export class Resident {
  readonly #base: BaseLayer
  readonly #limits: ResidentLimits
  /** Bytes granted by the budget. */
  #granted = 0
  readonly #ordered = new OrderedEntries()
  readonly #values = new Map<string, KeyValue>()
  /** Deleted keys of the base layer. */
  readonly #deleted = new Set<string>()
  #bytes = 0

  static async load(
    database: Database,
    base: BaseLayer,
    limits: ResidentLimits,
    snapshot?: AbstractSnapshot,
  ): Promise<Loaded> {
    const resident = new Resident(base, limits)
    if (await resident.#load(database, snapshot)) return { resident, bytes: resident.bytes }
    resident.release()
    return { resident: undefined, bytes: resident.bytes }
  }

  /** Loads the image of a store, which was small when the image was written. */
  static of(entries: Iterable<TableEntry>, base: BaseLayer, limits: ResidentLimits): Resident | undefined {
    const resident = new Resident(base, limits)
    for (const [key, data] of entries) {
      if (key.startsWith(tables.tombstone)) resident.#deleted.add(key.slice(1))
      else resident.#set(decodeCurrent(key.slice(1), data))
    }
    return resident.#fits() ? resident : undefined
  }

  constructor(base: BaseLayer, limits: ResidentLimits) {
    this.#base = base
    this.#limits = limits
  }

  /** Estimated size. */
  get bytes(): number {
    return this.#bytes
  }

  /** Returns the granted bytes to the budget. */
  release(): void {
    this.#limits.budget?.giveBack(this.#granted)
    this.#granted = 0
  }

  async #load(database: Database, snapshot: AbstractSnapshot | undefined): Promise<boolean> {
    const cursorOver = (table: string): Cursor<string> =>
      new Cursor(database, {
        gte: table,
        lt: prefixEnd(table) ?? "",
        keyEncoding: "utf8",
        ...(snapshot ? { snapshot } : {}),
      })
    await using current = cursorOver(tables.current)
    let piece = { end: pieceBytes, began: performance.now() }
    for await (const [key, data] of current) {
      this.#set(decodeCurrent(key.slice(1), data))
      if (!this.#fits()) return false
      // Loading in the background leaves half of the time to others; the opening of a store waits for it.
      if (snapshot === undefined || this.#bytes < piece.end) continue
      await pause(performance.now() - piece.began)
      piece = { end: this.#bytes + pieceBytes, began: performance.now() }
    }
    if (this.#base.keys.length === 0) return true
    await using deleted = cursorOver(tables.tombstone)
    for await (const [key] of deleted) this.#deleted.add(key.slice(1))
    return true
  }

  /** In the format of LevelDB's tables. */
  *tableEntries(): Generator<TableEntry> {
    for (const entry of this.#values.values()) yield [currentKey(entry.key), encodeCurrent(entry)]
    for (const key of this.#deleted) yield [tombstoneKey(key), nothing]
  }

  /** Returns false if it has outgrown its limit and must not be used any more. */
  apply(events: readonly StoreEvent[]): boolean {
    for (const { type, current } of events) {
      if (type === "put") {
        this.#set(current)
        this.#deleted.delete(current.key)
      } else {
        this.#remove(current.key)
        if (this.#base.has(current.key)) this.#deleted.add(current.key)
      }
    }
    return this.#fits()
  }

  #fits(): boolean {
    const { ownBytes, budget } = this.#limits
    while (this.#bytes > ownBytes + this.#granted) {
      if (budget?.take(grantBytes) !== true) return false
      this.#granted += grantBytes
    }
    return true
  }

  get(key: string): KeyValue | undefined {
    return this.#values.get(key) ?? this.#ofBase(key)
  }

  /** Reads the latest state. */
  range(prefix: string, options: RangeOptions): Items {
    const { after, count, limitInMemory = 0 } = options
    const limit = Math.max(options.limit ?? Infinity, limitInMemory)
    const below = selectKeys(this.#base.keys, prefix, after)
    if (below.length === 0) {
      const { items, bytes, remaining } = this.#ordered.select(prefix, after, limit)
      return { items, bytes, more: remaining > 0, ...(count ? { remaining } : {}) }
    }
    const own = this.#ordered.select(prefix, after, Infinity).items.map(({ key }) => key)
    return this.#rangeOver(this.#merge(own, below), limit, count)
  }

  #rangeOver(keys: Iterable<string>, limit: number, count: boolean | undefined): Items {
    const items: KeyValue[] = []
    let bytes = 0
    let remaining = 0
    for (const key of keys) {
      if (items.length === limit) {
        if (!count) return { items, bytes, more: true }
        remaining++
        continue
      }
      const found = this.get(key)
      if (found === undefined) continue
      items.push(found)
      bytes += storedLength(found)
    }
    return { items, bytes, more: remaining > 0, ...(count ? { remaining } : {}) }
  }

  /** The existing keys of both, in order. */
  *#merge(own: readonly string[], below: readonly string[]): Generator<string> {
    let at = 0
    for (const key of own) {
      for (let base = below[at]; base !== undefined && compareKeys(base, key) < 0; base = below[++at]) {
        if (!this.#deleted.has(base)) yield base
      }
      if (below[at] === key) at++
      yield key
    }
    for (; at < below.length; at++) {
      const base = below[at] ?? ""
      if (!this.#deleted.has(base)) yield base
    }
  }

  #ofBase(key: string): KeyValue | undefined {
    return this.#deleted.has(key) ? undefined : baseValue(this.#base, key)
  }

  #set(entry: KeyValue): void {
    const { key } = entry
    const before = this.#values.get(key)
    this.#ordered.set(entry)
    if (before !== undefined) this.#bytes -= weigh(before)
    this.#values.set(key, entry)
    this.#bytes += weigh(entry)
  }

  #remove(key: string): void {
    const before = this.#values.get(key)
    if (before === undefined) return
    this.#values.delete(key)
    this.#ordered.delete(key)
    this.#bytes -= weigh(before)
  }
}

export function weigh({ key, value }: KeyValue): number {
  return entryOverhead + 2 * key.length + value.byteLength
}
