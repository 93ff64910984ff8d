// The current values of a small store, in memory: reads of the latest state then cost no hop to LevelDB's thread, which is
// most of what a list of a few objects costs. A store that outgrows its limit is read from LevelDB. What is here is the
// committed state, changed in one step when a group of transactions is on disk.

import { baseValue } from "../base-layer.ts"
import { compareKeys, lowerBound, prefixEnd, selectKeys } from "../key-order.ts"
import type { BaseLayer, KeyValue, RangeOptions, StoreEvent } from "../types.ts"
import type { Database } from "./database.ts"
import { decodeCurrent, tables } from "./keys.ts"

/** What a key costs beside its own and its value's bytes: objects, headers, places in maps. */
const entryOverhead = 200

export class Resident {
  readonly #base: BaseLayer
  readonly #maxBytes: number
  /** In byte order. */
  readonly #keys: string[] = []
  readonly #values = new Map<string, KeyValue>()
  /** Keys of the base layer that were deleted. */
  readonly #deleted = new Set<string>()
  #bytes = 0

  /** Undefined: there is more than `maxBytes`. */
  static async load(database: Database, base: BaseLayer, maxBytes: number): Promise<Resident | undefined> {
    const resident = new Resident(base, maxBytes)
    return (await resident.#load(database)) ? resident : undefined
  }

  constructor(base: BaseLayer, maxBytes: number) {
    this.#base = base
    this.#maxBytes = maxBytes
  }

  async #load(database: Database): Promise<boolean> {
    const range = (table: string) => ({ gte: table, lt: prefixEnd(table) ?? "" })
    for await (const [key, data] of database.iterator({
      ...range(tables.current),
      highWaterMarkBytes: this.#maxBytes,
    })) {
      this.#set(decodeCurrent(key.slice(1), data))
      if (this.#bytes > this.#maxBytes) return false
    }
    if (this.#base.keys.length === 0) return true
    for await (const key of database.keys(range(tables.tombstone))) this.#deleted.add(key.slice(1))
    return true
  }

  /** false: it has outgrown its limit and must not be asked any more. */
  apply(events: readonly StoreEvent[]): boolean {
    for (const { type, current } of events) {
      if (type === "put") {
        this.#set(current)
        this.#deleted.delete(current.key)
      } else {
        this.#remove(current.key)
        if (this.#base.value(current.key) !== undefined) this.#deleted.add(current.key)
      }
    }
    return this.#bytes <= this.#maxBytes
  }

  get(key: string): KeyValue | undefined {
    return this.#values.get(key) ?? this.#ofBase(key)
  }

  /** Of the latest state. */
  range(
    prefix: string,
    { after, limit = Infinity, count }: RangeOptions,
  ): {
    items: KeyValue[]
    more: boolean
    remaining?: number
  } {
    const keys = this.#merge(selectKeys(this.#keys, prefix, after), selectKeys(this.#base.keys, prefix, after))
    const items: KeyValue[] = []
    let remaining = 0
    for (const key of keys) {
      if (items.length === limit) {
        if (!count) return { items, more: true }
        remaining++
        continue
      }
      const found = this.get(key)
      if (found !== undefined) items.push(found)
    }
    return { items, more: remaining > 0, ...(count ? { remaining } : {}) }
  }

  /** Keys that exist, of both in order. */
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
    if (before === undefined) this.#keys.splice(lowerBound(this.#keys, key), 0, key)
    else this.#bytes -= weigh(before)
    this.#values.set(key, entry)
    this.#bytes += weigh(entry)
  }

  #remove(key: string): void {
    const before = this.#values.get(key)
    if (before === undefined) return
    this.#values.delete(key)
    this.#keys.splice(lowerBound(this.#keys, key), 1)
    this.#bytes -= weigh(before)
  }
}

function weigh({ key, value }: KeyValue): number {
  return entryOverhead + 2 * key.length + value.byteLength
}
