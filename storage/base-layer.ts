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
  return base.has(key) ? new BaseValue(base, key) : undefined
}

/** A class, since there are many: an accessor in a literal gives each object a shape of its own. */
class BaseValue implements KeyValue {
  readonly key: string
  readonly createRevision = baseRevision
  readonly modRevision = baseRevision
  readonly #base: BaseLayer
  #value: Uint8Array | undefined
  #known: unknown

  constructor(base: BaseLayer, key: string) {
    this.key = key
    this.#base = base
  }

  get value(): Uint8Array {
    return (this.#value ??= this.#base.value(this.key) ?? new Uint8Array())
  }

  get known(): unknown {
    return (this.#known ??= this.#base.known?.(this.key))
  }
}
