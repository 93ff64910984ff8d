// The values of one control plane that were recently read or written individually, so that objects that admission, authorization
// and clients read repeatedly are parsed once. Lists bypass it, so that a scan does not evict the values in use. Data found in
// texts without parsing is kept as long as the store retains the entry that it has returned.

import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { KeyValue } from "../../../../storage/types.ts"
import { StoredText, StoredValue } from "./stored-value.ts"

/** Estimated ratio of the memory of a parsed object to that of its text. */
const parsedWeight = 4

interface Entry {
  modRevision: number
  /** Undefined: dropped. */
  value: StoredValue | undefined
  weight: number
}

export class ValueCache {
  readonly #maxBytes: number
  readonly #entries = new Map<string, Entry>()
  /** By the bytes of writes in progress: the parsed object, or after its first access the text. */
  readonly #writing = new Map<Uint8Array, KubeObject | StoredText>()
  #bytes = 0

  /** `maxBytes`: estimated memory of texts and parsed objects. Beyond it the least recently used are dropped. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Estimated memory of the cached values. */
  get bytes(): number {
    return this.#bytes
  }

  /** The value of an entry that the store has just returned: the cached one, or a new one, which is cached. */
  of(stored: KeyValue): StoredValue {
    const text = this.textOf(stored)
    const known = this.#entry(stored)
    if (known?.value === undefined) return this.#keep(stored.key, text)
    this.#entries.delete(stored.key)
    this.#entries.set(stored.key, known)
    return known.value
  }

  /** The text of an entry, which is the same object as long as the store returns the same entry. */
  textOf(stored: KeyValue): StoredText {
    stored.found ??= (this.#entry(stored)?.value ?? this.#new(stored)).identity
    return stored.found as StoredText
  }

  /** Returns the cached value, or a new one that is not cached. */
  passing(stored: KeyValue): StoredValue {
    const text = this.textOf(stored)
    return text.kept ?? new StoredValue(text)
  }

  #entry(stored: KeyValue): Entry | undefined {
    const entry = this.#entries.get(stored.key)
    return entry?.modRevision === stored.modRevision ? entry : undefined
  }

  /**
   * Registers the parsed object of a write before it is performed: watches of the change find it there. The cache owns `object`.
   * Valid until {@link written}, which the caller calls in any case.
   */
  writing(bytes: Uint8Array, object: KubeObject): void {
    this.#writing.set(bytes, object)
  }

  /** `stored`: undefined if nothing was written. */
  written(bytes: Uint8Array, stored: KeyValue | undefined): void {
    if (stored !== undefined) this.of(stored)
    this.#writing.delete(bytes)
  }

  /** A value that is being written is cached, since it will be read. */
  #new(stored: KeyValue): StoredValue {
    const text = new StoredText(stored, stored.modRevision)
    if (text.born !== undefined) return new StoredValue(text)
    const writing = this.#writing.get(stored.value)
    if (writing === undefined) return new StoredValue(text)
    if (writing instanceof StoredText) return new StoredValue(writing)
    this.#writing.set(stored.value, text) // the value now owns the parsed object
    return this.#keep(stored.key, text, writing)
  }

  #keep(key: string, text: StoredText, parsed?: KubeObject): StoredValue {
    this.delete(key)
    const value = new StoredValue(text, parsed)
    const weight = text.bytes.byteLength * (1 + parsedWeight)
    if (weight > this.#maxBytes) {
      // Immediate subscribers need not parse it.
      if (parsed !== undefined) text.retainWeakly(value.object())
      return value
    }
    this.#entries.set(key, { modRevision: text.revision, value, weight })
    text.kept = value
    this.#bytes += weight
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break
      this.delete(oldest)
    }
    return value
  }

  clear(): void {
    for (const key of this.#entries.keys()) this.delete(key)
  }

  delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    entry.value?.release()
    entry.value = undefined
    this.#bytes -= entry.weight
  }
}
