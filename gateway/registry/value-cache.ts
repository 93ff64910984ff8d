// The values of one control plane that were read or written one by one lately, so that what admission, authorization and
// clients look at again and again is parsed once. Lists pass it by: a scan must not push out what is in use. What is found in
// texts without parsing them is kept for as long as the store keeps what it has handed out.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { KeyValue } from "../../storage/types.ts"
import { StoredText, StoredValue } from "./value.ts"

/** A parsed object weighs about this many times its text. */
const parsedWeight = 4

interface Entry {
  modRevision: number
  /** Undefined: forgotten. */
  value: StoredValue | undefined
  weight: number
}

export class ValueCache {
  readonly #maxBytes: number
  readonly #entries = new Map<string, Entry>()
  /** Parsed forms of what is being written, by its bytes. */
  readonly #writing = new WeakMap<Uint8Array, KubeObject>()
  #bytes = 0

  /** `maxBytes`: what texts and parsed forms may take, estimated. Beyond it the least recently used go. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** What is kept weighs so much, estimated. */
  get bytes(): number {
    return this.#bytes
  }

  /** The value of what the store has just answered: the one that is known, or a new one, which is kept. */
  of(stored: KeyValue): StoredValue {
    const text = this.textOf(stored)
    const known = this.#entry(stored)
    if (known?.value === undefined) return this.#keep(stored.key, text)
    this.#entries.delete(stored.key)
    this.#entries.set(stored.key, known)
    return known.value
  }

  /** The text of one of many, the same as long as the store hands out the same. */
  textOf(stored: KeyValue): StoredText {
    stored.found ??= (this.#entry(stored)?.value ?? this.#new(stored)).identity
    return stored.found as StoredText
  }

  /** A value that is not kept if it is not known. */
  passing(stored: KeyValue): StoredValue {
    const text = this.textOf(stored)
    return text.kept ?? new StoredValue(text)
  }

  #entry(stored: KeyValue): Entry | undefined {
    const entry = this.#entries.get(stored.key)
    return entry?.modRevision === stored.modRevision ? entry : undefined
  }

  /**
   * Says before a write what its bytes are, parsed: `object` is the cache's, whoever sees the change finds it. Until
   * {@link written}.
   */
  writing(bytes: Uint8Array, object: KubeObject): void {
    this.#writing.set(bytes, object)
  }

  /** `stored`: undefined when nothing was written. */
  written(bytes: Uint8Array, stored: KeyValue | undefined): void {
    if (stored !== undefined) this.of(stored)
    this.#writing.delete(bytes)
  }

  /** What is being written is kept: it will be asked for. */
  #new(stored: KeyValue): StoredValue {
    const text = new StoredText(stored, stored.modRevision)
    if (text.born !== undefined) return new StoredValue(text)
    const parsed = this.#writing.get(stored.value)
    this.#writing.delete(stored.value) // it is the value's now
    return parsed === undefined ? new StoredValue(text) : this.#keep(stored.key, text, parsed)
  }

  #keep(key: string, text: StoredText, parsed?: KubeObject): StoredValue {
    this.delete(key)
    const value = new StoredValue(text, parsed)
    const weight = text.bytes.byteLength * (1 + parsedWeight)
    if (weight > this.#maxBytes) return value
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
    entry.value?.letGo()
    entry.value = undefined
    this.#bytes -= entry.weight
  }
}
