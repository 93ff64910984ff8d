// The values of one control plane that were read or written one by one lately, so that what admission, authorization and
// clients look at again and again is parsed once. Lists pass it by: a scan must not push out what is in use.

import type { KeyValue } from "../../storage/types.ts"
import { StoredValue } from "./value.ts"

/** A parsed object weighs about this many times its text. */
const parsedWeight = 4

interface Entry {
  modRevision: number
  value: StoredValue
  weight: number
}

export class ValueCache {
  readonly #maxBytes: number
  readonly #entries = new Map<string, Entry>()
  #bytes = 0

  /** `maxBytes`: what texts and parsed forms may take, estimated. Beyond it the least recently used go. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The value of what the store has just answered: the one that is known, or a new one, which is kept. */
  of(stored: KeyValue): StoredValue {
    return this.peek(stored) ?? this.put(stored.key, stored.value, stored.modRevision)
  }

  /** The value, if it is known; nothing is kept. */
  peek(stored: KeyValue): StoredValue | undefined {
    const entry = this.#entries.get(stored.key)
    if (entry?.modRevision !== stored.modRevision) return undefined
    this.#entries.delete(stored.key)
    this.#entries.set(stored.key, entry)
    return entry.value
  }

  put(key: string, bytes: Uint8Array, modRevision: number): StoredValue {
    this.delete(key)
    const value = new StoredValue(bytes, modRevision)
    const weight = bytes.byteLength * (1 + parsedWeight)
    if (weight > this.#maxBytes) return value
    this.#entries.set(key, { modRevision, value, weight })
    this.#bytes += weight
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break
      this.delete(oldest)
    }
    return value
  }

  clear(): void {
    this.#entries.clear()
    this.#bytes = 0
  }

  delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#bytes -= entry.weight
  }
}
