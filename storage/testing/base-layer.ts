import { compareKeys } from "../key-order.ts"
import type { BaseLayer } from "../types.ts"

/** A base layer with the given entries in any order; a later entry of the same key replaces an earlier one. */
export function createBaseLayer(entries: Iterable<readonly [key: string, value: Uint8Array]>): BaseLayer {
  const values = new Map(entries)
  const keys = [...values.keys()].sort(compareKeys)
  return { keys, has: (key) => values.has(key), value: (key) => values.get(key) }
}
