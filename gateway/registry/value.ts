// An object on its way through the gateway: bytes as stored, wire text and parsed form, each made at most once and only
// when somebody asks. Stored bytes carry no resourceVersion (it is the store's revision); it is spliced in when read, right
// after the opening of metadata, which canonical encoding (encodeStored) puts at a place found without parsing:
//
//   {"kind":"Pod","apiVersion":"v1","metadata":{ "resourceVersion":"42", "name":"web",…
//                                     stored ─┘└───── spliced in ──────┘└─ stored

import { copyJson, copyUnfrozen } from "../../apimachinery/copy.ts"
import { parseJson } from "../../apimachinery/schema/exact-integers.ts"
import { printingJson } from "../../apimachinery/schema/json-print.ts"
import type { Json, KubeObject } from "../../apimachinery/object.ts"
import type { KeyValue } from "../../storage/types.ts"
import { atOnce, type Steps } from "../../apimachinery/steps.ts"
import { deepFreeze } from "../../apimachinery/freeze.ts"
import { labelsIn } from "./stored-labels.ts"

export interface KubeValue {
  readonly resourceVersion: string
  /** The same as a number; 0 for what has none. */
  readonly revision: number
  /** JSON with the resourceVersion: what goes on the wire. */
  bytes(): Uint8Array
  /** How many bytes {@link bytes} has, and a copy of all from `start` on into a larger text: for lists, which have many. */
  readonly length: number
  copyTo(target: Uint8Array, offset: number, start?: number): void
  /** Parsed and deeply frozen; shared by all readers. */
  object(): KubeObject
  /** The same for who keeps it (an informer): while somebody does, it is not parsed again. */
  held(): KubeObject
  /** The caller's own, to be changed. */
  copy(): KubeObject
  /** To be looked at now and let go: not kept when it was not parsed before. */
  peek(): KubeObject
  /** What selectors ask for: found without parsing the rest. */
  labels(): Readonly<Record<string, string>>
  /** The same for what is the same: made of these very bytes at this revision. Keys what is made of many values together. */
  readonly identity: object
}

/** Who manages what is never changed in its place, so it need not be copied. */
function copyObject({ metadata: { managedFields, ...metadata }, ...rest }: KubeObject): KubeObject {
  const copy: KubeObject = copyJson({ ...rest, metadata })
  if (managedFields !== undefined) copy.metadata.managedFields = managedFields
  return copy
}

const metadataOpening = Buffer.from('"metadata":{')
const closingBrace = 0x7d

/**
 * What is stored: kind, apiVersion and metadata first, no resourceVersion, no self link. `isPartlyHidden`: apiVersion comes first,
 * so that those who read it without parsing find that it is not what is shown. Leaves the object as it is. Memory of its own:
 * stores keep it, and in Node's pool of small buffers it would keep the 64 KiB around it.
 */
export function encodeStored(object: KubeObject, isPartlyHidden = false): Buffer {
  return atOnce(encodingStored(object, isPartlyHidden))
}

/** The same in steps: who manages what is often as long as all else. */
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
 * What parsing {@link encodeStored} answers, without the revision. The caller's own but for what is frozen: most of an object
 * whose status is written is what it was, and stays the same in memory.
 */
export function asParsed({ kind, apiVersion, metadata, ...rest }: KubeObject): KubeObject {
  const { resourceVersion: _version, selfLink: _link, ...meta } = metadata
  return copyUnfrozen({ kind, apiVersion, metadata: meta, ...rest } as KubeObject)
}

/** The same of what is long, in steps: frozen but for the object itself and its metadata, which are still to be completed. */
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

/** How the stored bytes of every object of a kind begin: tells the stored version without parsing. */
export function storedHead(kind: string, apiVersion: string): Buffer {
  return Buffer.from(`{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`)
}

/** What is known of an object that every control plane is born with, before any bytes are made. */
export interface BornObject {
  /** How its stored text begins: its kind and apiVersion at least. */
  readonly beginning: Buffer
  readonly labels: Readonly<Record<string, string>>
  /** Are any of these words in its text? */
  mentions(words: readonly Buffer[]): boolean
  /** What parsing its text answers: deeply frozen, with as much of it as can be shared by all control planes. */
  object(): KubeObject
}

/** Of what a store has answered: every base layer of a gateway is made by tenancy/bootstrap.ts. */
export const bornObject = ({ known }: Pick<KeyValue, "known">): BornObject | undefined =>
  known as BornObject | undefined

function bufferOf(value: Uint8Array): Buffer {
  return value instanceof Buffer ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength)
}

/** Bytes from which a text takes long to parse. */
export const longText = 32 * 1024

/** Bytes as they lie in the store, and what is found in them once: where the revision goes, and the labels. */
export class StoredText {
  readonly revision: number
  readonly born: BornObject | undefined
  /** Of a born object what makes them, until somebody asks. Not the entry they came with: the store may keep another one. */
  #bytes: Buffer | Pick<KeyValue, "value">
  #spliceAt: number | undefined
  #splice: string | undefined
  /** The value whose parsed form is kept (value-cache.ts). */
  kept: StoredValue | undefined
  /** Its parsed form, once it is kept no more, for as long as somebody else has it: an informer, say. */
  #parsed: WeakRef<KubeObject> | undefined
  #labels: Readonly<Record<string, string>> | undefined
  /** What it was found to begin with. */
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

  /** Right after the opening of metadata. */
  get spliceAt(): number {
    return (this.#spliceAt ??= this.bytes.indexOf(metadataOpening) + metadataOpening.length)
  }

  /** What is spliced in. */
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

  /** It takes long to parse: worth a reference that the collector of garbage has to look after. */
  get isLong(): boolean {
    return this.born === undefined && this.bytes.length >= longText
  }

  /** `parsed`: deeply frozen. */
  letGo(parsed: KubeObject): void {
    this.#parsed = new WeakRef(parsed)
  }

  /** `head`: of {@link storedHead}, the same buffer each time. */
  beginsWith(head: Buffer): boolean {
    if (this.#head === head) return true
    if (head.compare(this.born?.beginning ?? this.bytes, 0, head.length) !== 0) return false
    this.#head = head
    return true
  }
}

/** A value as it lies in the store. */
export class StoredValue implements KubeValue {
  readonly #text: StoredText
  #parsed: KubeObject | undefined
  #isHeld = false

  /** `parsed`: what the text says, when that is known; taken over. */
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

  /** `start` lies before metadata. */
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
    // What is long may be too long for being kept and let go of later.
    if (this.#text.kept !== this && this.#text.isLong) this.#text.letGo(object)
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

  /** It is kept no more. What nobody holds is not referred to: the collector of young objects would move what a WeakRef has. */
  letGo(): void {
    this.#text.kept = undefined
    if (this.#isHeld && this.#parsed !== undefined) this.#text.letGo(this.#parsed)
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

/** A value that was computed: converted, or never stored (dry run). Takes the object over. */
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

  /** Frozen when it is first shown: most are only printed. */
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

  /** Makes its bytes in steps, for who is going to ask for them. */
  *encoding(): Steps<this> {
    this.#bytes ??= Buffer.from(yield* printingJson(this.#object as unknown as Json))
    return this
  }

  #encoded(): Buffer {
    this.#bytes ??= Buffer.from(JSON.stringify(this.#object))
    return this.#bytes
  }
}
