// Base layers: immutable objects below a store, which all stores of a process share. A store keeps only what differs.

import { compareKeys } from "./key-order.ts"
import type { BaseLayer, KeyValue } from "./types.ts"

/** What a base layer holds was there before the first transaction. */
export const baseRevision = 1

/** A base layer of the given entries, whatever their order; a later entry of the same key wins. */
export function createBaseLayer(entries: Iterable<readonly [key: string, value: Uint8Array]>): BaseLayer {
  const values = new Map(entries)
  const keys = [...values.keys()].sort(compareKeys)
  return { keys, has: (key) => values.has(key), value: (key) => values.get(key) }
}

export const emptyBaseLayer: BaseLayer = { keys: [], has: () => false, value: () => undefined }

/** Its bytes are made when they are first read: who knows what an unchanged object of the layer says never asks for them. */
export function baseValue(base: BaseLayer, key: string): KeyValue | undefined {
  if (!base.has(key)) return undefined
  let made: Uint8Array | undefined
  let known: unknown
  return {
    key,
    get value() {
      return (made ??= base.value(key) ?? new Uint8Array())
    },
    get known() {
      return (known ??= base.known?.(key))
    },
    createRevision: baseRevision,
    modRevision: baseRevision,
  }
}
