// Merges a store's keys in etcd with the base layer below them. The deleted keys of the base, with the revisions of their first
// deletion, are known since the store was opened; this is enough to compute the state at any revision.

import { baseRevision, baseValue } from "../base-layer.ts"
import { compareKeys, lowerBound, selectKeys } from "../key-order.ts"
import { atRevision } from "../transaction.ts"
import type { BaseLayer, KeyValue, Revision, StoreEvent } from "../types.ts"
import type { Place } from "./keys.ts"
import type { WireEvent, WireKeyValue } from "./wire.ts"

export class Layer {
  readonly base: BaseLayer
  /** The revision at which a key of the base was first deleted. */
  readonly #deleted = new Map<string, Revision>()

  constructor(base: BaseLayer) {
    this.base = base
  }

  /** Whether the base has the key, deleted or not. */
  isBase(key: string): boolean {
    const { keys } = this.base
    return keys.length > 0 && keys[lowerBound(keys, key)] === key
  }

  /** Records a deletion mark found in etcd. */
  deleted(key: string, revision: Revision): void {
    this.#deleted.set(key, revision)
  }

  /** Converts an entry of etcd. A value that replaced one of the base has the createRevision of the base. */
  keyValue(key: string, { value, create_revision, mod_revision }: WireKeyValue): KeyValue {
    const createRevision = this.#isOverBase(key, create_revision) ? baseRevision : create_revision
    return { key, value, createRevision, modRevision: mod_revision }
  }

  /** The base's value of a key that has no value in etcd at this revision. */
  below(key: string, revision: Revision): KeyValue | undefined {
    return revision < (this.#deleted.get(key) ?? Infinity) ? baseValue(this.base, key) : undefined
  }

  /** Keys of the base in a range, including deleted ones. */
  keys(prefix: string, after: string | undefined): readonly string[] {
    return this.base.keys.length === 0 ? [] : selectKeys(this.base.keys, prefix, after)
  }

  /** Merges values of etcd and of the base, in order. `below`: keys of the base; those with a value in etcd are skipped. */
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

  /** The events of one transaction. Records deletion marks. */
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
        // Only the value of the base existed.
        const previous = baseValue(this.base, place.key)
        if (previous) events.push({ type: "delete", current: atRevision(previous, revision), previous })
      }
    }
    return events
  }

  #event(key: string, { type, kv, prev_kv }: WireEvent, revision: Revision): StoreEvent {
    const isCreated = type === 0 && kv.version === 1
    // The history was compacted while it was read, so the value before is unknown: who watches a selection could not tell what left it.
    if (prev_kv === null && !isCreated) throw new LostValueError(revision)
    const previous = prev_kv === null ? this.below(key, revision) : this.keyValue(key, prev_kv)
    if (type === 1 && previous !== undefined)
      return { type: "delete", current: atRevision(previous, revision), previous }
    const current = this.keyValue(key, kv)
    return previous === undefined ? { type: "put", current } : { type: "put", current, previous }
  }

  #isOverBase(key: string, created: Revision): boolean {
    return this.isBase(key) && created <= (this.#deleted.get(key) ?? Infinity)
  }
}

/** An event without the value that was changed or deleted. */
export class LostValueError extends Error {
  override readonly name = "LostValueError"
  readonly revision: Revision

  constructor(revision: Revision) {
    super(`the value before revision ${revision} has been compacted`)
    this.revision = revision
  }
}
