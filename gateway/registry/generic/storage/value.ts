// An object in the gateway: its stored bytes, wire text and parsed form, each created on first use and at most once. Stored bytes
// contain no resourceVersion, since it is the store's revision. Reads insert it directly after the opening brace of metadata, whose
// position is found without parsing because of the canonical encoding (encodeStored):
//
//   {"kind":"Pod","apiVersion":"v1","metadata":{ "resourceVersion":"42", "name":"web",…
//                                     stored ─┘└───── spliced in ──────┘└─ stored

import { copyJson, copyUnfrozen } from "../../../../apimachinery/copy.ts"
import { parseJson } from "../../../../apimachinery/schema/exact-integers.ts"
import { printingJson } from "../../../../apimachinery/schema/json/print.ts"
import type { Json, KubeObject } from "../../../../apimachinery/object.ts"
import type { KeyValue } from "../../../../storage/types.ts"
import { atOnce, type Steps } from "../../../../apimachinery/steps.ts"
import { deepFreeze } from "../../../../apimachinery/freeze.ts"
import { labelsIn } from "./stored-labels.ts"

export interface KubeValue {
  readonly resourceVersion: string
  /** The resourceVersion as a number; 0 if there is none. */
  readonly revision: number
  /** The wire format: JSON with the resourceVersion. */
  bytes(): Uint8Array
  /** The number of {@link bytes}. With copyTo(), which copies them from `start` on, lists are written without a buffer per item. */
  readonly length: number
  copyTo(target: Uint8Array, offset: number, start?: number): void
  /** The parsed form, deeply frozen and shared by all readers. */
  object(): KubeObject
  /** The same for callers that retain it (informers): it is not parsed again as long as one of them does. */
  held(): KubeObject
  /** A mutable copy. */
  copy(): KubeObject
  /** For immediate use: if it was not parsed before, the result is not retained. */
  peek(): KubeObject
  /** For selectors; found without parsing the rest. */
  labels(): Readonly<Record<string, string>>
  /** The same object for all values of the same stored bytes and revision; the key of caches of encoded lists. */
  readonly identity: object
}

/** Managed fields are never modified in place, so they are not copied. */
function copyObject({ metadata: { managedFields, ...metadata }, ...rest }: KubeObject): KubeObject {
  const copy: KubeObject = copyJson({ ...rest, metadata })
  if (managedFields !== undefined) copy.metadata.managedFields = managedFields
  return copy
}

const metadataOpening = Buffer.from('"metadata":{')
const closingBrace = 0x7d

/**
 * The stored form: kind, apiVersion and metadata first, without resourceVersion and self link. `isPartlyHidden`: apiVersion comes
 * first, so that readers that do not parse it recognize that some fields must be hidden. Does not modify the object. The buffer is not
 * allocated from Node's pool, since stores retain it, and with it they would retain 64 KiB of the pool.
 */
export function encodeStored(object: KubeObject, isPartlyHidden = false): Buffer {
  return atOnce(encodingStored(object, isPartlyHidden))
}

/** The same in steps: managed fields are often as long as the rest. */
export function* encodingStored(object: KubeObject, isPartlyHidden = false): Steps<Buffer> {
  const { kind, apiVersion, metadata, ...rest } = object
  const { resourceVersion: _version, selfLink: _link, ...meta } = metadata
  const head = isPartlyHidden ? { apiVersion, kind } : { kind, apiVersion }
  const beginning = yield* printingJson({ ...head, metadata: meta } as unknown as Json)
  yield
  const end = yield* printingJson(rest as unknown as Json)
  const text = end === "{}" ? beginning : `${beginning.slice(0, -1)},${end.slice(1)}`
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

/**
 * The object that parsing the result of {@link encodeStored} returns, without the revision. Frozen parts are shared instead of copied: a
 * write of the status leaves most of an object unchanged, and that part then occupies memory only once.
 */
export function asParsed({ kind, apiVersion, metadata, ...rest }: KubeObject): KubeObject {
  const { resourceVersion: _version, selfLink: _link, ...meta } = metadata
  return copyUnfrozen({ kind, apiVersion, metadata: meta, ...rest } as KubeObject)
}

/** The same in steps, for long objects. Frozen except for the object itself and its metadata, which the caller completes. */
export function* copyingParsed({ kind, apiVersion, metadata, ...rest }: KubeObject): Steps<KubeObject> {
  const { resourceVersion: _version, selfLink: _link, ...meta } = metadata
  const beginning = copyUnfrozen({ kind, apiVersion, metadata: meta } as KubeObject)
  yield
  for (const field in beginning.metadata) deepFreeze(beginning.metadata[field as keyof KubeObject["metadata"]])
  yield
  const end = copyUnfrozen(rest)
  yield
  for (const field in end) deepFreeze(end[field])
  yield
  return { ...beginning, ...end }
}

/** The first bytes of all stored objects of a kind and version, which identify the version without parsing. */
export function storedHead(kind: string, apiVersion: string): Buffer {
  return Buffer.from(`{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`)
}

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

function bufferOf(value: Uint8Array): Buffer {
  return value instanceof Buffer ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength)
}

/** From this number of bytes, parsing a text takes long. */
export const longText = 32 * 1024

/** Stored bytes, and data found in them once: where the revision is inserted, and the labels. */
export class StoredText {
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
    return (this.#spliceAt ??= this.bytes.indexOf(metadataOpening) + metadataOpening.length)
  }

  /** The text that is inserted at {@link spliceAt}. */
  get splice(): string {
    return (this.#splice ??= `"resourceVersion":"${this.revision}"${this.bytes[this.spliceAt] === closingBrace ? "" : ","}`)
  }

  get labels(): Readonly<Record<string, string>> {
    this.#labels ??= this.born?.labels ?? labelsIn(this.bytes, this.spliceAt)
    return this.#labels
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

  get #known(): KubeObject | undefined {
    return this.#text.parsed ?? this.#text.born?.object()
  }

  /** Called on eviction. Objects that were not returned by held() get no WeakRef, since collections of young objects would copy them. */
  release(): void {
    this.#text.kept = undefined
    if (this.#isHeld && this.#parsed !== undefined) this.#text.retainWeakly(this.#parsed)
  }

  labels(): Readonly<Record<string, string>> {
    return this.#text.labels
  }

  #parse(): KubeObject {
    const object = parseJson(this.#text.bytes) as unknown as KubeObject
    object.metadata.resourceVersion = this.resourceVersion
    return object
  }
}

/** A computed value: converted, or never stored (dry run). Takes ownership of the object. */
export class ComputedValue implements KubeValue {
  readonly #object: KubeObject
  #bytes: Buffer | undefined

  constructor(object: KubeObject) {
    this.#object = object
  }

  get identity(): ComputedValue {
    return this
  }

  get resourceVersion(): string {
    return this.#object.metadata.resourceVersion ?? ""
  }

  get revision(): number {
    return Number(this.resourceVersion)
  }

  get length(): number {
    return this.#encoded().length
  }

  copyTo(target: Uint8Array, offset: number, start = 0): void {
    target.set(this.#encoded().subarray(start), offset)
  }

  bytes(): Uint8Array {
    return this.#encoded()
  }

  /** Frozen on first access, since most values are only encoded. */
  object(): KubeObject {
    return deepFreeze(this.#object)
  }

  held(): KubeObject {
    return this.object()
  }

  copy(): KubeObject {
    return copyObject(this.#object)
  }

  peek(): KubeObject {
    return this.object()
  }

  labels(): Readonly<Record<string, string>> {
    return this.#object.metadata.labels ?? {}
  }

  /** Encodes its bytes in steps before they are needed. */
  *encoding(): Steps<this> {
    this.#bytes ??= Buffer.from(yield* printingJson(this.#object as unknown as Json))
    return this
  }

  #encoded(): Buffer {
    this.#bytes ??= Buffer.from(JSON.stringify(this.#object))
    return this.#bytes
  }
}
