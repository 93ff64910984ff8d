// Base layers: immutable objects below a store, which all stores of a process share. A store keeps only what differs.

import { compareKeys } from "./key-order.ts"
import type { BaseLayer, KeyValue } from "./types.ts"

/** What a base layer holds was there before the first transaction. */
export const baseRevision = 1

/** A base layer of the given entries, whatever their order; a later entry of the same key wins. */
export function createBaseLayer(entries: Iterable<readonly [key: string, value: Uint8Array]>): BaseLayer {
  const values = new Map(entries)
  const keys = [...values.keys()].sort(compareKeys)
  return { keys, value: (key) => values.get(key) }
}

export const emptyBaseLayer: BaseLayer = { keys: [], value: () => undefined }

export function baseValue(base: BaseLayer, key: string): KeyValue | undefined {
  const value = base.value(key)
  return value && { key, value, createRevision: baseRevision, modRevision: baseRevision }
}
