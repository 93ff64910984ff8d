// Documents about the API itself (discovery, OpenAPI): made when first asked for, and kept with their ETag and their compressed
// form. What is only about built-in kinds is kept once for all control planes; what custom resources are part of is kept per
// control plane until what it serves changes, as long as there is room.

import { createHash } from "node:crypto"
import type { ServerResponse } from "node:http"
import { promisify } from "node:util"
import { gzip } from "node:zlib"
import type { RequestContext } from "../request/context.ts"
import type { ResourceDefinition } from "../registry/rest.ts"
import type { ResourceTable } from "../registry/resource-table.ts"
import { acceptsGzip, compressFromBytes } from "./body-writer.ts"

export interface Document {
  bytes: Buffer
  etag: string
  compressed?: Promise<Buffer>
}

/** Of all control planes together, in bytes; beyond it those nobody asked for longest are made anew when asked for. */
const maxCustomBytes = 64 * 1024 * 1024

const builtInOnly = new Map<string, Promise<Document>>()

interface Entry {
  document: Promise<Document>
  /** 0 while it is made. */
  bytes: number
}

/** Those asked for last are at the end. */
const custom = new Map<string, Entry>()
let customBytes = 0

const tableIds = new WeakMap<ResourceTable, number>()
let lastTableId = 0

/**
 * `key` names the document and its form, `about` what is in it; `make` gives the JSON value, or bytes of another encoding.
 * Who asks while it is made gets the same. "passing": it depends on more than what is served here, so it is not kept.
 */
export function document(
  { controlPlane }: RequestContext,
  key: string,
  about: readonly Pick<ResourceDefinition, "customResource">[] | "passing",
  make: () => unknown,
): Promise<Document> {
  if (about === "passing") return made(make)
  if (about.every(({ customResource }) => customResource === undefined)) {
    let found = builtInOnly.get(key)
    if (found === undefined) {
      builtInOnly.set(key, (found = made(make)))
      found.catch(() => builtInOnly.delete(key)) // the caller is told; the next one tries again
    }
    return found
  }
  return customDocument(`${tableId(controlPlane.resources)} ${controlPlane.resources.generation} ${key}`, make)
}

async function made(make: () => unknown): Promise<Document> {
  const value = await make()
  const bytes = value instanceof Uint8Array ? Buffer.from(value) : Buffer.from(JSON.stringify(value))
  return { bytes, etag: createHash("sha512").update(bytes).digest("hex").toUpperCase() }
}

function tableId(table: ResourceTable): number {
  let id = tableIds.get(table)
  if (id === undefined) tableIds.set(table, (id = ++lastTableId))
  return id
}

function customDocument(key: string, make: () => unknown): Promise<Document> {
  const entry = custom.get(key) ?? newEntry(key, make)
  custom.delete(key)
  custom.set(key, entry)
  return entry.document
}

function newEntry(key: string, make: () => unknown): Entry {
  const entry: Entry = { document: made(make), bytes: 0 }
  entry.document.then(
    ({ bytes }) => {
      if (custom.get(key) !== entry) return
      entry.bytes = bytes.length
      customBytes += entry.bytes
      makeRoom()
    },
    () => custom.delete(key), // the caller is told; the next one tries again
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

/** 304 when the client has it already. */
export async function sendDocument(
  ctx: RequestContext,
  response: ServerResponse,
  found: Document,
  contentType: string,
  caching = "public",
): Promise<void> {
  const { bytes, etag } = found
  const headers = { "content-type": contentType, etag: `"${etag}"`, vary: "Accept", "cache-control": caching }
  if (ctx.headers["if-none-match"]?.includes(etag) === true) {
    response.writeHead(304, headers).end()
    return
  }
  if (bytes.length < compressFromBytes || !acceptsGzip(ctx)) {
    response.writeHead(200, { ...headers, "content-length": bytes.length }).end(bytes)
    return
  }
  found.compressed ??= compress(bytes)
  const body = await found.compressed
  response
    .writeHead(200, {
      ...headers,
      vary: "Accept, Accept-Encoding",
      "content-encoding": "gzip",
      "content-length": body.length,
    })
    .end(body)
}
