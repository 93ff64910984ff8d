// Documents about the API itself (discovery, OpenAPI): made when first asked for, kept with their ETag until what is served
// changes. Control planes without custom resources share them, so that a thousand tenants keep one copy.

import { createHash } from "node:crypto"
import type { ServerResponse } from "node:http"
import type { RequestContext } from "../request/context.ts"
import type { ResourceTable } from "../registry/resource-table.ts"

interface Document {
  bytes: Buffer
  etag: string
}

/** Documents kept per table; beyond it the oldest is made anew when asked for. There are about 50 paths. */
const maxDocuments = 256

const builtInOnly = new Map<string, Document>()
const perTable = new WeakMap<ResourceTable, { generation: number; documents: Map<string, Document> }>()

function cacheOf(table: ResourceTable): Map<string, Document> {
  if (table.definitions().every(({ customResource }) => customResource === undefined)) return builtInOnly
  const kept = perTable.get(table)
  if (kept !== undefined && kept.generation === table.generation) return kept.documents
  const documents = new Map<string, Document>()
  perTable.set(table, { generation: table.generation, documents })
  return documents
}

/** `key` names the document and its form; `make` gives the JSON value, or bytes of another encoding. */
export function document(ctx: RequestContext, key: string, make: () => unknown): Document {
  const cache = cacheOf(ctx.controlPlane.resources)
  let found = cache.get(key)
  if (found === undefined) {
    const made = make()
    const bytes = made instanceof Uint8Array ? Buffer.from(made) : Buffer.from(JSON.stringify(made))
    found = { bytes, etag: createHash("sha512").update(bytes).digest("hex").toUpperCase() }
    if (cache.size >= maxDocuments) cache.delete(cache.keys().next().value ?? "")
    cache.set(key, found)
  }
  return found
}

/** 304 when the client has it already. */
export function sendDocument(
  ctx: RequestContext,
  response: ServerResponse,
  { bytes, etag }: Document,
  contentType: string,
): void {
  const headers = { "content-type": contentType, etag: `"${etag}"`, vary: "Accept", "cache-control": "public" }
  if (ctx.headers["if-none-match"]?.includes(etag) === true) {
    response.writeHead(304, headers).end()
    return
  }
  response.writeHead(200, { ...headers, "content-length": bytes.length }).end(bytes)
}
