// A cache of documents about the API (discovery, OpenAPI), which are created on demand and stored with their ETag, large ones only
// in compressed form. Documents about built-in kinds are cached once for all control planes; documents that include custom
// resources are cached per control plane until its resources change, within a size limit.

import { createHash } from "node:crypto"
import { setImmediate as nextTurn } from "node:timers/promises"
import { promisify } from "node:util"
import { gunzip, gzip } from "node:zlib"
import { printJson } from "../../../apimachinery/go/print.ts"
import type { RequestContext } from "../../request/context.ts"
import type { ResourceDefinition, ResourceTable } from "../../registry/rest.ts"
import { compressFromBytes } from "../responses/body-writer.ts"

export interface Document {
  etag: string
  madeAt: Date
  /** The uncompressed size, also if only the compressed form is stored. */
  size: number
  bytes?: Buffer
  compressed?: Buffer
}

/** A document whose pieces are created lazily, so that other requests are served in between. */
export class Pieces {
  readonly pieces: Iterable<string | Uint8Array>
  /** The ETag, if it is known without the content. */
  readonly etag: string | undefined

  constructor(pieces: Iterable<string | Uint8Array>, etag?: string) {
    this.pieces = pieces
    this.etag = etag
  }
}

/** Size limit in bytes over all control planes; beyond it the least recently used documents are dropped. */
const maxCustomBytes = 64 * 1024 * 1024
/** Pieces are created for this long before other work gets its turn. */
const maxTurnMs = 5

const builtInOnly = new Map<string, Promise<Document>>()

/** Overhead of an entry, which counts because a tenant may cause many small ones. */
const entryOverhead = 1024

interface Entry {
  document: Promise<Document>
  /** 0 while the document is being created. */
  bytes: number
}

/** In order of use, the most recently used last. */
const custom = new Map<string, Entry>()
let customBytes = 0

const tableIds = new WeakMap<ResourceTable, number>()
let lastTableId = 0

/**
 * `key` identifies the document and its form, `about` lists the definitions in it; `make` returns the JSON value, bytes of another
 * encoding, or pieces. Concurrent requests share one result. "passing": it depends on more than the served definitions and is not
 * cached; "own": also then, but `key` says on what, and it is kept for the control plane.
 */
export function document(
  ctx: RequestContext,
  key: string,
  about: readonly Pick<ResourceDefinition, "customResource">[] | "passing" | "own",
  make: () => unknown,
): Promise<Document> {
  const { aside, controlPlane } = ctx
  if (about === "passing") return makeDocument(make, aside)
  if (about !== "own" && about.every(({ customResource }) => customResource === undefined)) {
    let found = builtInOnly.get(key)
    if (found === undefined) {
      builtInOnly.set(key, (found = makeDocument(make, aside)))
      found.catch(() => builtInOnly.delete(key)) // the caller gets the error; the next request tries again
    }
    return found
  }
  const { resources } = controlPlane
  return customDocument(`${tableId(resources)} ${resources.generation} ${key}`, () => makeDocument(make, aside))
}

/** Not cached. */
export async function makeDocument(make: () => unknown, aside: RequestContext["aside"]): Promise<Document> {
  const value = await make()
  const bytes = await bytesOf(value)
  const known = value instanceof Pieces ? value.etag : undefined
  const etag = known ?? etagOf(bytes)
  const about = { etag, madeAt: new Date(), size: bytes.length }
  if (bytes.length < compressFromBytes) return { ...about, bytes }
  const job = (): Promise<Buffer> => compress(bytes)
  return { ...about, compressed: await (aside?.(job) ?? job()) }
}

export function etagOf(bytes: Uint8Array): string {
  return createHash("sha512").update(bytes).digest("hex").toUpperCase()
}

/** In turns, if there are pieces. */
export async function bytesOf(value: unknown): Promise<Buffer> {
  if (value instanceof Uint8Array) return Buffer.from(value)
  if (!(value instanceof Pieces)) return Buffer.from(printJson(value))
  const buffers: Uint8Array[] = []
  let started = performance.now()
  for (const piece of value.pieces) {
    buffers.push(typeof piece === "string" ? Buffer.from(piece) : piece)
    if (performance.now() - started < maxTurnMs) continue
    await nextTurn()
    started = performance.now()
  }
  return Buffer.concat(buffers)
}

function tableId(table: ResourceTable): number {
  let id = tableIds.get(table)
  if (id === undefined) tableIds.set(table, (id = ++lastTableId))
  return id
}

function customDocument(key: string, make: () => Promise<Document>): Promise<Document> {
  const entry = custom.get(key) ?? newEntry(key, make)
  custom.delete(key)
  custom.set(key, entry)
  return entry.document
}

function newEntry(key: string, make: () => Promise<Document>): Entry {
  const entry: Entry = { document: make(), bytes: 0 }
  entry.document.then(
    ({ bytes, compressed }) => {
      if (custom.get(key) !== entry) return
      entry.bytes = entryOverhead + ((bytes ?? compressed)?.length ?? 0)
      customBytes += entry.bytes
      makeRoom()
    },
    () => {
      if (custom.get(key) === entry) custom.delete(key) // the caller gets the error; the next request tries again
    },
  )
  return entry
}

function makeRoom(): void {
  for (const [key, { bytes }] of custom) {
    if (customBytes <= maxCustomBytes) return
    custom.delete(key)
    customBytes -= bytes
  }
}

const compress = promisify(gzip)
const expand = promisify(gunzip)

/** Decompresses outside the thread, in turns: for clients that do not accept compression this happens on each request. */
export async function bytesOfDocument(
  { aside }: Pick<RequestContext, "aside">,
  { bytes, compressed, size }: Document,
): Promise<Buffer> {
  if (bytes !== undefined) return bytes
  // Into one buffer that is not filled: otherwise the thread would gather them, or a second one would be made.
  const job = (): Promise<Buffer> => expand(compressed ?? Buffer.alloc(0), { chunkSize: size + 1 })
  return aside?.(job) ?? job()
}
