// A list on the wire: its head, and the items' own bytes, copied once into chunks with commas between; or, in protobuf, the
// items' messages.

import { type Json, printGroupVersion } from "../../apimachinery/object.ts"
import { schemaOfType } from "../../apimachinery/schema/facts.ts"
import { encodeMessage, envelope, fieldHead } from "../../apimachinery/schema/protobuf-encode.ts"
import type { ResourceDefinition } from "../registry/rest.ts"
import { type KubeValue, storedHead } from "../registry/value.ts"

/** Items are joined to chunks of about this size. */
const chunkBytes = 256 * 1024

const openingBrace = 0x7b
const comma = 0x2c
const closing = Buffer.from("]}\n")

/** `head` is the list without its items. */
export async function* listBody(
  head: object,
  definition: ResourceDefinition,
  pieces: Iterable<readonly KubeValue[]> | AsyncIterable<readonly KubeValue[]>,
): AsyncGenerator<Uint8Array> {
  const start = itemStart(definition)
  yield Buffer.from(`${JSON.stringify(head).slice(0, -1)},"items":[`)
  let isFirst = true
  for await (const items of pieces) {
    for (let from = 0; from < items.length;) {
      const { chunk, next } = nextChunk(items, from, start, isFirst)
      isFirst = false
      from = next
      yield chunk
    }
  }
  yield closing
}

const listMetaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"

/**
 * A message begins with its length, so all items are encoded before the first byte goes out: the answer is in memory once,
 * which in protobuf is about half of its JSON.
 */
export async function* protobufListBody(
  { kind, apiVersion, metadata }: { kind: string; apiVersion: string; metadata: object },
  { schema }: ResourceDefinition,
  pieces: Iterable<readonly KubeValue[]> | AsyncIterable<readonly KubeValue[]>,
): AsyncGenerator<Uint8Array> {
  const listMeta = schemaOfType(listMetaName)
  if (listMeta === undefined) throw new Error(`the facts have no ${listMetaName}`)
  const meta = encodeMessage(listMeta, metadata as Json)
  const chunks: Uint8Array[] = [fieldHead(1, meta.length), meta]
  let parts: Uint8Array[] = []
  let waiting = 0
  for await (const items of pieces) {
    for (const item of items) {
      const message = encodeMessage(schema, item.glance() as unknown as Json)
      parts.push(fieldHead(2, message.length), message)
      waiting += message.length
      if (waiting < chunkBytes) continue
      chunks.push(Buffer.concat(parts))
      parts = []
      waiting = 0
    }
  }
  chunks.push(Buffer.concat(parts))
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  const { head, tail } = envelope(apiVersion, kind, length)
  yield head
  yield* chunks
  yield tail
}

/** Items of a built-in kind's list come without kind and apiVersion: how many bytes those are, but for the brace. */
function itemStart({ kind, group, version, customResource, conversion }: ResourceDefinition): number {
  // What was converted may have them elsewhere.
  if (customResource !== undefined || conversion !== undefined) return 0
  return storedHead(kind, printGroupVersion({ group, version })).length - 1
}

/** Items from `from` on, as many as fill a chunk; at least one. Each has its comma before it. */
function nextChunk(
  items: readonly KubeValue[],
  from: number,
  start: number,
  isFirst: boolean,
): { chunk: Uint8Array; next: number } {
  let size = 0
  let next = from
  for (; next < items.length && (size === 0 || size < chunkBytes); next++) {
    size += (items[next]?.length ?? 0) - start + 1
  }
  const chunk = Buffer.allocUnsafe(isFirst ? size - 1 : size)
  let at = 0
  for (let index = from; index < next; index++) {
    const item = items[index]
    if (item === undefined) continue
    if (!isFirst || index > from) chunk[at++] = comma
    item.copyTo(chunk, at, start)
    chunk[at] = openingBrace
    at += item.length - start
  }
  return { chunk, next }
}
