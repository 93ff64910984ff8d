// Base layers: immutable objects below a store, which all stores of a process share. A store keeps only what differs.

import type { BaseLayer, KeyValue } from "./types.ts"

/** What a base layer holds was there before the first transaction. */
export const baseRevision = 1

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
