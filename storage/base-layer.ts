// Base layers: immutable objects below a store, shared by all stores of a process. A store contains only the differences.

import type { BaseLayer, KeyValue } from "./types.ts"

/** The contents of a base layer exist before the first transaction. */
export const baseRevision = 1

export const emptyBaseLayer: BaseLayer = { keys: [], has: () => false, value: () => undefined }

/** The bytes are encoded on first access: readers that know the contents of an unchanged object never need them. */
export function baseValue(base: BaseLayer, key: string): KeyValue | undefined {
  return base.has(key) ? new BaseValue(base, key) : undefined
}

/** The stored length of a value: nothing for one of the base layer, whose bytes need not exist. */
export function storedLength(entry: KeyValue): number {
  return entry instanceof BaseValue ? 0 : entry.value.byteLength
}

export function storedLengthOf(entries: readonly KeyValue[]): number {
  return entries.reduce((sum, entry) => sum + storedLength(entry), 0)
}

/** A class, because there are many instances: an accessor in an object literal would give each object its own shape. */
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
