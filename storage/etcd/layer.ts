// A store's keys in etcd seen together with the base layer below them. Which keys of the base have been deleted, and when
// first, is known from the opening on; that is all it takes to tell what was there at any revision.

import { baseRevision, baseValue } from "../base-layer.ts"
import { compareKeys, lowerBound, selectKeys } from "../key-order.ts"
import { atRevision } from "../transaction.ts"
import type { BaseLayer, KeyValue, Revision, StoreEvent } from "../types.ts"
import type { Place } from "./keys.ts"
import type { WireEvent, WireKeyValue } from "./wire.ts"

export class Layer {
  readonly base: BaseLayer
  /** When a key of the base was first deleted. */
  readonly #deleted = new Map<string, Revision>()

  constructor(base: BaseLayer) {
    this.base = base
  }

  /** Whether the base has the key, deleted or not. */
  isBase(key: string): boolean {
    const { keys } = this.base
    return keys.length > 0 && keys[lowerBound(keys, key)] === key
  }

  /** A mark found in etcd. */
  deleted(key: string, revision: Revision): void {
    this.#deleted.set(key, revision)
  }

  /** What etcd has, as we have it: what was written over a value of the base is as old as that. */
  keyValue(key: string, { value, create_revision, mod_revision }: WireKeyValue): KeyValue {
    const createRevision = this.#isOverBase(key, create_revision) ? baseRevision : create_revision
    return { key, value, createRevision, modRevision: mod_revision }
  }

  /** Of a key that has no value in etcd at that revision. */
  below(key: string, revision: Revision): KeyValue | undefined {
    return revision < (this.#deleted.get(key) ?? Infinity) ? baseValue(this.base, key) : undefined
  }

  /** Keys of the base in a range, whether they are there or not. */
  keys(prefix: string, after: string | undefined): readonly string[] {
    return this.base.keys.length === 0 ? [] : selectKeys(this.base.keys, prefix, after)
  }

  /** Values of etcd and those below, in order. `below` are keys of the base, of which those with a value are left out. */
  merge(values: readonly KeyValue[], below: readonly string[], revision: Revision): readonly KeyValue[] {
    if (below.length === 0) return values
    const merged: KeyValue[] = []
    let next = 0
    for (const key of below) {
      for (let item = values[next]; item !== undefined && compareKeys(item.key, key) < 0; item = values[++next])
        merged.push(item)
      if (values[next]?.key === key) continue
      const found = this.below(key, revision)
      if (found !== undefined) merged.push(found)
    }
    for (; next < values.length; next++) merged.push(values[next] as KeyValue)
    return merged
  }

  /** One transaction's changes. Marks of deletion are noted. */
  events(changes: readonly { place: Place; event: WireEvent }[], revision: Revision): StoreEvent[] {
    const removed = new Set<string>()
    for (const { place, event } of changes) {
      if (place.kind === "deleted") {
        if (event.type === 0) this.#deleted.set(place.key, revision)
      } else if (place.kind === "value" && event.type === 1) removed.add(place.key)
    }
    const events: StoreEvent[] = []
    for (const { place, event } of changes) {
      if (place.kind === "value") events.push(this.#event(place.key, event, revision))
      else if (place.kind === "deleted" && event.type === 0 && !removed.has(place.key)) {
        // Only what the base has was there.
        const previous = baseValue(this.base, place.key)
        if (previous) events.push({ type: "delete", current: atRevision(previous, revision), previous })
      }
    }
    return events
  }

  #event(key: string, { type, kv, prev_kv }: WireEvent, revision: Revision): StoreEvent {
    if (type === 1) {
      // Compaction has overtaken who reads: what was deleted is not known any more.
      if (prev_kv === null) throw new LostValueError(revision)
      const previous = this.keyValue(key, prev_kv)
      return { type: "delete", current: atRevision(previous, revision), previous }
    }
    const current = this.keyValue(key, kv)
    if (prev_kv !== null) return { type: "put", current, previous: this.keyValue(key, prev_kv) }
    const below = kv.version === 1 ? this.below(key, revision) : undefined
    return below === undefined ? { type: "put", current } : { type: "put", current, previous: below }
  }

  #isOverBase(key: string, created: Revision): boolean {
    return this.isBase(key) && created <= (this.#deleted.get(key) ?? Infinity)
  }
}

/** The event of a deletion came without the value that was deleted. */
export class LostValueError extends Error {
  override readonly name = "LostValueError"
  readonly revision: Revision

  constructor(revision: Revision) {
    super(`the value deleted at revision ${revision} has been compacted`)
    this.revision = revision
  }
}
