// The form in which objects are stored. It contains no resourceVersion, since that is the store's revision. Reads insert it directly
// after the opening brace of metadata, whose position is found without parsing, because metadata is the third field:
//
//   {"kind":"Pod","apiVersion":"v1","metadata":{ "resourceVersion":"42", "name":"web",…
//                                     stored ─┘└───── spliced in ──────┘└─ stored

import { copyUnfrozen } from "../../../../apimachinery/copy.ts"
import { deepFreeze } from "../../../../apimachinery/freeze.ts"
import type { Json, KubeObject } from "../../../../apimachinery/object.ts"
import { printingJson } from "../../../../apimachinery/schema/json/print.ts"
import { atOnce, type Steps } from "../../../../apimachinery/steps.ts"

const metadataOpening = Buffer.from('"metadata":{')
const closingBrace = 0x7d

/** From this number of bytes, parsing a text takes long. */
export const longText = 32 * 1024

/**
 * The stored form: kind, apiVersion and metadata first, without resourceVersion and self link. Does not modify the object. The buffer
 * is not allocated from Node's pool, since stores retain it, and with it they would retain 64 KiB of the pool.
 */
export function encodeStored(object: KubeObject): Buffer {
  return atOnce(encodingStored(object, false))
}

/**
 * The same in steps: managed fields are often as long as the rest. `isReadOtherwise`: apiVersion comes first, so that readers that do not
 * parse it recognize that they have to hide fields, or to add defaults.
 */
export function* encodingStored(object: KubeObject, isReadOtherwise: boolean): Steps<Buffer> {
  const { kind, apiVersion, metadata, ...rest } = object
  const { resourceVersion: _version, selfLink: _link, ...meta } = metadata
  const head = isReadOtherwise ? { apiVersion, kind } : { kind, apiVersion }
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

/** The position directly after the opening brace of metadata. */
export function spliceAtIn(stored: Buffer): number {
  return stored.indexOf(metadataOpening) + metadataOpening.length
}

/** The text that reads insert there. */
export function spliceOf(stored: Buffer, spliceAt: number, revision: number): string {
  return `"resourceVersion":"${revision}"${stored[spliceAt] === closingBrace ? "" : ","}`
}
