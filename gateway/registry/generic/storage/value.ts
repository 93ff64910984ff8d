// An object in the gateway: its wire text and its parsed form, each created on first use and at most once. It is either stored
// (stored-value.ts) or computed.

import { copyJson } from "../../../../apimachinery/copy.ts"
import { deepFreeze } from "../../../../apimachinery/freeze.ts"
import { printJson } from "../../../../apimachinery/go/print.ts"
import type { Json, KubeObject } from "../../../../apimachinery/object.ts"
import { printingJson } from "../../../../apimachinery/schema/json/print.ts"
import type { Steps } from "../../../../apimachinery/steps.ts"

type Words = Readonly<Record<string, string>>

/** Reads the selectable fields of objects of one definition. */
export interface FieldReader {
  /** By which what has been read is known: objects live longer than definitions, and must not hold them. */
  readonly id: number
  read(this: void, object: KubeObject): Words
}

/** What is known of a stored object without parsing it. */
export interface SelectableText {
  labels(): Words
  /** Undefined if it would have to be parsed for that. */
  knownFields(reader: FieldReader): Words | undefined
}

/** Whether the object may be selected, as far as it is known without parsing. `isShown`: it is shown as it is stored, with the same fields. */
export type MayMatch = (text: SelectableText, isShown: boolean) => boolean

export interface KubeValue {
  readonly resourceVersion: string
  /** The resourceVersion as a number; 0 if there is none. */
  readonly revision: number
  /** The wire format: JSON with the resourceVersion. */
  bytes(): Uint8Array
  /** The number of {@link bytes}. With copyTo(), which copies them from `start` on, lists are written without a buffer per item. */
  readonly length: number
  copyTo(target: Uint8Array, offset: number, start?: number): void
  /** The part of {@link bytes} that is its metadata. */
  metadataBytes(): Buffer
  /** The parsed form, deeply frozen and shared by all readers. */
  object(): KubeObject
  /** The same for callers that retain it (informers): it is not parsed again as long as one of them does. */
  held(): KubeObject
  /** A mutable copy. */
  copy(): KubeObject
  /** For immediate use: if it was not parsed before, the result is not retained. */
  peek(): KubeObject
  /** For selectors; found without parsing the rest. */
  labels(): Words
  /** For selectors; read once. */
  fields(reader: FieldReader): Words
  /** The same object for all values of the same stored bytes and revision; the key of caches of encoded lists. */
  readonly identity: object
}

/** A mutable copy. Managed fields are never modified in place, so they are not copied. */
export function copyObject({ metadata: { managedFields, ...metadata }, ...rest }: KubeObject): KubeObject {
  const copy: KubeObject = copyJson({ ...rest, metadata })
  if (managedFields !== undefined) copy.metadata.managedFields = managedFields
  return copy
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

  metadataBytes(): Buffer {
    return Buffer.from(printJson(this.#object.metadata))
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

  labels(): Words {
    return this.#object.metadata.labels ?? {}
  }

  /** Not kept, since nobody will have this value again. */
  fields({ read }: FieldReader): Words {
    return read(this.#object)
  }

  /** Encodes its bytes in steps before they are needed. */
  *encoding(): Steps<this> {
    this.#bytes ??= Buffer.from(yield* printingJson(this.#object as unknown as Json))
    return this
  }

  #encoded(): Buffer {
    this.#bytes ??= Buffer.from(printJson(this.#object))
    return this.#bytes
  }
}
