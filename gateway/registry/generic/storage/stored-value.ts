// Objects as they are in the store: their text (stored-form.ts), data found in it without parsing, and their parsed form.

import { deepFreeze } from "../../../../apimachinery/freeze.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import { parseJson } from "../../../../apimachinery/schema/exact-integers.ts"
import type { KeyValue } from "../../../../storage/types.ts"
import { longText, spliceAtIn, spliceOf } from "./stored-form.ts"
import { endOfMetadata, labelsIn } from "./stored-metadata.ts"
import { copyObject, type FieldReader, type KubeValue, type SelectableText } from "./value.ts"

/** Data about an initial object of every control plane that is available before its bytes are created. */
export interface BornObject {
  /** The beginning of its stored text: at least its kind and apiVersion. */
  readonly beginning: Buffer
  readonly labels: Readonly<Record<string, string>>
  /** Whether its text contains any of these words. */
  mentions(words: readonly Buffer[]): boolean
  /** Its parsed form, deeply frozen; the parts that do not depend on the control plane are shared by all of them. */
  object(): KubeObject
}

/** The initial object of a stored entry. All base layers of a gateway are created by control-plane/bootstrap.ts. */
export const bornObject = ({ known }: Pick<KeyValue, "known">): BornObject | undefined =>
  known as BornObject | undefined

/** Stored bytes, and data found in them once: where the revision is inserted, labels, and selectable fields. */
export class StoredText implements SelectableText {
  readonly revision: number
  readonly born: BornObject | undefined
  /** For an initial object, the entry that creates the bytes on first use. Otherwise not the entry: the store may retain another one. */
  #bytes: Buffer | Pick<KeyValue, "value">
  #spliceAt: number | undefined
  #splice: string | undefined
  /** The cached value (value-cache.ts). */
  kept: StoredValue | undefined
  /** The parsed form after eviction from the cache, as long as something else retains it, such as an informer. */
  #parsed: WeakRef<KubeObject> | undefined
  #labels: Readonly<Record<string, string>> | undefined
  #fields: { readonly by: FieldReader["id"]; readonly found: Readonly<Record<string, string>> } | undefined
  /** The head that it was found to begin with. */
  #head: Buffer | undefined

  constructor(stored: Pick<KeyValue, "value" | "known">, revision: number) {
    this.revision = revision
    this.born = bornObject(stored)
    this.#bytes = this.born === undefined ? bufferOf(stored.value) : stored
  }

  get bytes(): Buffer {
    const bytes = this.#bytes
    return Buffer.isBuffer(bytes) ? bytes : (this.#bytes = bufferOf(bytes.value))
  }

  /** The position directly after the opening brace of metadata. */
  get spliceAt(): number {
    return (this.#spliceAt ??= spliceAtIn(this.bytes))
  }

  /** The text that is inserted at {@link spliceAt}. */
  get splice(): string {
    return (this.#splice ??= spliceOf(this.bytes, this.spliceAt, this.revision))
  }

  labels(): Readonly<Record<string, string>> {
    this.#labels ??= this.born?.labels ?? labelsIn(this.bytes, this.spliceAt)
    return this.#labels
  }

  /** Undefined if it would have to be parsed for that. */
  knownFields(reader: FieldReader): Readonly<Record<string, string>> | undefined {
    if (this.#fields?.by === reader.id) return this.#fields.found
    const parsed = this.kept?.parsed
    return parsed === undefined ? undefined : this.readFields(reader, parsed)
  }

  readFields({ id, read }: FieldReader, object: KubeObject): Readonly<Record<string, string>> {
    this.#fields = { by: id, found: read(object) }
    return this.#fields.found
  }

  get parsed(): KubeObject | undefined {
    return this.#parsed?.deref()
  }

  /** Whether parsing it takes so long that avoiding it is worth a WeakRef, which burdens the garbage collector. */
  get isLong(): boolean {
    return this.born === undefined && this.bytes.length >= longText
  }

  /** Retains `parsed`, which is deeply frozen, only as long as something else does. */
  retainWeakly(parsed: KubeObject): void {
    this.#parsed = new WeakRef(parsed)
  }

  /** `head`: a result of {@link storedHead}; the same buffer is compared only once. */
  beginsWith(head: Buffer): boolean {
    if (this.#head === head) return true
    if (head.compare(this.born?.beginning ?? this.bytes, 0, head.length) !== 0) return false
    this.#head = head
    return true
  }
}

/** A value that is stored in this version. */
export class StoredValue implements KubeValue {
  readonly #text: StoredText
  #parsed: KubeObject | undefined
  #isHeld = false

  /** `parsed`: the parsed text, if available. The value takes ownership of it. */
  constructor(text: StoredText, parsed?: KubeObject) {
    this.#text = text
    if (parsed === undefined) return
    parsed.metadata.resourceVersion = this.resourceVersion
    this.#parsed = deepFreeze(parsed)
  }

  get identity(): StoredText {
    return this.#text
  }

  get resourceVersion(): string {
    return String(this.#text.revision)
  }

  get revision(): number {
    return this.#text.revision
  }

  get length(): number {
    return this.#text.bytes.length + this.#text.splice.length
  }

  /** `start` is a position before metadata. */
  copyTo(target: Uint8Array, offset: number, start = 0): void {
    const { bytes, spliceAt, splice } = this.#text
    target.set(bytes.subarray(start, spliceAt), offset)
    let at = offset + spliceAt - start
    for (let index = 0; index < splice.length; index++) target[at++] = splice.charCodeAt(index)
    target.set(bytes.subarray(spliceAt), at)
  }

  bytes(): Uint8Array {
    const bytes = Buffer.allocUnsafe(this.length)
    this.copyTo(bytes, 0)
    return bytes
  }

  metadataBytes(): Buffer {
    const { bytes, spliceAt, splice } = this.#text
    const end = endOfMetadata(bytes, spliceAt)
    const metadata = Buffer.allocUnsafe(1 + splice.length + end - spliceAt)
    metadata.write(`{${splice}`, "latin1")
    bytes.copy(metadata, 1 + splice.length, spliceAt, end)
    return metadata
  }

  object(): KubeObject {
    this.#parsed ??= this.#known ?? deepFreeze(this.#parse())
    return this.#parsed
  }

  held(): KubeObject {
    this.#isHeld = true
    const object = this.object()
    // A long object may exceed the cache, which then never releases it.
    if (this.#text.kept !== this && this.#text.isLong) this.#text.retainWeakly(object)
    return object
  }

  copy(): KubeObject {
    const parsed = this.#parsed ?? this.#known
    return parsed === undefined ? this.#parse() : copyObject(parsed)
  }

  peek(): KubeObject {
    return this.#parsed ?? this.#known ?? this.#parse()
  }

  /** The parsed form, if there is one. */
  get parsed(): KubeObject | undefined {
    return this.#parsed
  }

  get #known(): KubeObject | undefined {
    return this.#text.parsed ?? this.#text.born?.object()
  }

  /** Called on eviction. Objects that were not returned by held() get no WeakRef, since collections of young objects would copy them. */
  release(): void {
    this.#text.kept = undefined
    if (this.#isHeld && this.#parsed !== undefined) this.#text.retainWeakly(this.#parsed)
  }

  labels(): Readonly<Record<string, string>> {
    return this.#text.labels()
  }

  fields(reader: FieldReader): Readonly<Record<string, string>> {
    return this.#text.knownFields(reader) ?? this.#text.readFields(reader, this.peek())
  }

  #parse(): KubeObject {
    const object = parseJson(this.#text.bytes) as unknown as KubeObject
    object.metadata.resourceVersion = this.resourceVersion
    return object
  }
}

function bufferOf(value: Uint8Array): Buffer {
  return value instanceof Buffer ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength)
}
