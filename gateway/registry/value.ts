// An object on its way through the gateway: bytes as stored, wire text and parsed form, each made at most once and only
// when somebody asks. Stored bytes carry no resourceVersion (it is the store's revision); it is spliced in when read, right
// after the opening of metadata, which canonical encoding (encodeStored) puts at a place found without parsing:
//
//   {"kind":"Pod","apiVersion":"v1","metadata":{ "resourceVersion":"42", "name":"web",…
//                                     stored ─┘└───── spliced in ──────┘└─ stored

import { copyJson } from "../../apimachinery/copy.ts"
import type { KubeObject } from "../../apimachinery/object.ts"
import { deepFreeze } from "./freeze.ts"
import { labelsIn } from "./stored-labels.ts"

export interface KubeValue {
  readonly resourceVersion: string
  /** JSON with the resourceVersion: what goes on the wire. */
  bytes(): Uint8Array
  /** How many bytes {@link bytes} has, and a copy of all from `start` on into a larger text: for lists, which have many. */
  readonly length: number
  copyTo(target: Uint8Array, offset: number, start?: number): void
  /** Parsed and deeply frozen; shared by all readers. */
  object(): KubeObject
  /** The caller's own, to be changed. */
  copy(): KubeObject
  /** To be looked at now and let go: not kept when it was not parsed before. */
  glance(): KubeObject
  /** What selectors ask for: found without parsing the rest. */
  labels(): Readonly<Record<string, string>>
}

/** Who manages what is never changed in its place, so it need not be copied. */
function copyObject({ metadata: { managedFields, ...metadata }, ...rest }: KubeObject): KubeObject {
  const copy: KubeObject = copyJson({ ...rest, metadata })
  if (managedFields !== undefined) copy.metadata.managedFields = managedFields
  return copy
}

const metadataOpening = Buffer.from('"metadata":{')
const closingBrace = 0x7d

/** What is stored: kind, apiVersion and metadata first, no resourceVersion, no self link. Leaves the object as it is. */
export function encodeStored(object: KubeObject): Buffer {
  const { kind, apiVersion, metadata, ...rest } = object
  const { resourceVersion: _version, selfLink: _link, ...meta } = metadata
  return Buffer.from(JSON.stringify({ kind, apiVersion, metadata: meta, ...rest }))
}

/** How the stored bytes of every object of a kind begin: tells the stored version without parsing. */
export function storedHead(kind: string, apiVersion: string): Buffer {
  return Buffer.from(`{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`)
}

/** A value as it lies in the store. */
export class StoredValue implements KubeValue {
  readonly #stored: Buffer
  readonly #revision: number
  #parsed: KubeObject | undefined
  #splice: { at: number; text: Buffer } | undefined

  constructor(stored: Uint8Array, revision: number) {
    this.#stored = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength)
    this.#revision = revision
  }

  get resourceVersion(): string {
    return String(this.#revision)
  }

  get length(): number {
    return this.#stored.length + this.#spliced().text.length
  }

  /** `start` lies before metadata. */
  copyTo(target: Uint8Array, offset: number, start = 0): void {
    const { at, text } = this.#spliced()
    this.#stored.copy(target, offset, start, at)
    target.set(text, offset + at - start)
    this.#stored.copy(target, offset + at - start + text.length, at)
  }

  bytes(): Uint8Array {
    const bytes = Buffer.allocUnsafe(this.length)
    this.copyTo(bytes, 0)
    return bytes
  }

  object(): KubeObject {
    this.#parsed ??= deepFreeze(this.#parse())
    return this.#parsed
  }

  copy(): KubeObject {
    return this.#parsed === undefined ? this.#parse() : copyObject(this.#parsed)
  }

  glance(): KubeObject {
    return this.#parsed ?? this.#parse()
  }

  labels(): Readonly<Record<string, string>> {
    return this.#parsed === undefined
      ? labelsIn(this.#stored, this.#spliced().at)
      : (this.#parsed.metadata.labels ?? {})
  }

  #parse(): KubeObject {
    const object = JSON.parse(this.#stored.toString()) as KubeObject
    object.metadata.resourceVersion = this.resourceVersion
    return object
  }

  #spliced(): { at: number; text: Buffer } {
    if (this.#splice === undefined) {
      const at = this.#stored.indexOf(metadataOpening) + metadataOpening.length
      const comma = this.#stored[at] === closingBrace ? "" : ","
      this.#splice = { at, text: Buffer.from(`"resourceVersion":"${this.#revision}"${comma}`, "latin1") }
    }
    return this.#splice
  }
}

/** A value that was computed: converted, or never stored (dry run). Takes the object over. */
export class ComputedValue implements KubeValue {
  readonly #object: KubeObject
  #bytes: Buffer | undefined

  constructor(object: KubeObject) {
    this.#object = deepFreeze(object)
  }

  get resourceVersion(): string {
    return this.#object.metadata.resourceVersion ?? ""
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

  object(): KubeObject {
    return this.#object
  }

  copy(): KubeObject {
    return copyObject(this.#object)
  }

  glance(): KubeObject {
    return this.#object
  }

  labels(): Readonly<Record<string, string>> {
    return this.#object.metadata.labels ?? {}
  }

  #encoded(): Buffer {
    this.#bytes ??= Buffer.from(JSON.stringify(this.#object))
    return this.#bytes
  }
}
