// Answers in the form the client wants. Whole objects go out as the bytes they are stored as; only Table, metadata and YAML
// look inside. Large lists are written piece by piece, no faster than the client reads.

import type { ServerResponse } from "node:http"
import { createGzip } from "node:zlib"
import type { Writable } from "node:stream"
import { once } from "node:events"
import { stringify } from "yaml"
import { printGroupVersion, type KubeObject } from "../../apimachinery/object.ts"
import type { RequestContext } from "../request/context.ts"
import type { ListResult, ListStream, ResourceDefinition } from "../registry/rest.ts"
import type { KubeValue } from "../registry/value.ts"
import { listBody } from "./list-body.ts"
import { negotiate, type Negotiated } from "./negotiation.ts"
import { partialMetadata, partialMetadataList, table, type IncludeObject, type ListMeta } from "./table-output.ts"

/** Bodies from this size on are compressed for clients that take it, as upstream's. */
const gzipFromBytes = 128 * 1024
const newline = Buffer.from("\n")

export function sendValue(
  ctx: RequestContext,
  response: ServerResponse,
  definition: ResourceDefinition,
  code: number,
  value: KubeValue,
): void {
  const wanted = negotiate(ctx.headers["accept"])
  if (wanted.as === "object" && wanted.format === "json")
    sendBytes(ctx, response, code, wanted.contentType, [value.bytes(), newline])
  else sendJSON(ctx, response, code, reduce(ctx, definition, wanted, value.object(), value.resourceVersion), wanted)
}

function reduce(
  ctx: RequestContext,
  definition: ResourceDefinition,
  wanted: Negotiated,
  object: KubeObject,
  resourceVersion: string,
): unknown {
  if (wanted.as === "table")
    return table([object], definition.columns, { resourceVersion }, includeObject(ctx), true, Date.now())
  return wanted.as === "metadata" ? partialMetadata(object) : object
}

export function includeObject(ctx: RequestContext): IncludeObject {
  const asked = ctx.query.get("includeObject")
  return asked === "None" || asked === "Object" ? asked : "Metadata"
}

/** Objects that were never stored: subresources, reviews, Status. */
export function sendJSON(
  ctx: RequestContext,
  response: ServerResponse,
  code: number,
  object: unknown,
  wanted: Negotiated = negotiate(ctx.headers["accept"]),
): void {
  const text = wanted.format === "yaml" ? stringify(object) : `${JSON.stringify(object)}\n`
  sendBytes(ctx, response, code, wanted.contentType, [Buffer.from(text)])
}

/** What is wanted as the objects' own bytes needs nothing but to be joined: it goes out as it is read. */
export async function sendStream(
  ctx: RequestContext,
  response: ServerResponse,
  definition: ResourceDefinition,
  { resourceVersion, pieces }: ListStream,
): Promise<void> {
  await sendItems(ctx, response, definition, { resourceVersion }, pieces)
}

export function wantsBytes(ctx: RequestContext): boolean {
  const { as, format } = negotiate(ctx.headers["accept"])
  return as === "object" && format === "json"
}

export async function sendList(
  ctx: RequestContext,
  response: ServerResponse,
  definition: ResourceDefinition,
  result: ListResult,
): Promise<void> {
  const wanted = negotiate(ctx.headers["accept"])
  const meta: ListMeta = {
    resourceVersion: result.resourceVersion,
    ...(result.continue === undefined ? {} : { continue: result.continue }),
    ...(result.remainingItemCount === undefined ? {} : { remainingItemCount: result.remainingItemCount }),
  }
  if (wanted.as === "table") {
    const objects = result.items.map((item) => item.object())
    sendJSON(ctx, response, 200, table(objects, definition.columns, meta, includeObject(ctx), true, Date.now()), wanted)
  } else if (wanted.as === "metadata") {
    sendJSON(
      ctx,
      response,
      200,
      partialMetadataList(
        result.items.map((item) => item.object()),
        meta,
      ),
      wanted,
    )
  } else if (wanted.format === "yaml") {
    sendJSON(
      ctx,
      response,
      200,
      { ...listHead(definition, meta), items: result.items.map((item) => item.object()) },
      wanted,
    )
  } else await sendItems(ctx, response, definition, meta, [result.items])
}

/** A short list is one body; a long one is compressed or written in chunks, no faster than the client takes it. */
async function sendItems(
  ctx: RequestContext,
  response: ServerResponse,
  definition: ResourceDefinition,
  meta: ListMeta,
  pieces: Iterable<readonly KubeValue[]> | AsyncIterable<readonly KubeValue[]>,
): Promise<void> {
  let waiting: Uint8Array[] = []
  let bytes = 0
  let out: Writable | undefined
  try {
    for await (const chunk of listBody(listHead(definition, meta), definition, pieces)) {
      waiting.push(chunk)
      bytes += chunk.length
      if (bytes < gzipFromBytes && out === undefined) continue
      out ??= openBody(ctx, response, 200, "application/json", bytes)
      const more = out.write(waiting.length === 1 ? chunk : Buffer.concat(waiting))
      waiting = []
      if (!more) await drained(out, response)
      if (response.destroyed) return
    }
  } catch (error) {
    // The answer has begun, so that it is cut off is all that can be said.
    if (out !== undefined) response.destroy(error instanceof Error ? error : undefined)
    throw error
  }
  if (out === undefined) sendBytes(ctx, response, 200, "application/json", waiting)
  else out.end()
}

async function drained(out: Writable, response: ServerResponse): Promise<void> {
  const left = new AbortController()
  const either = [once(out, "drain", left), once(response, "close", left)]
  try {
    await Promise.race(either)
  } finally {
    left.abort()
    await Promise.allSettled(either) // the one that lost ends with the signal
  }
}

function listHead({ listKind, group, version }: ResourceDefinition, metadata: ListMeta) {
  return { kind: listKind, apiVersion: printGroupVersion({ group, version }), metadata }
}

function sendBytes(
  ctx: RequestContext,
  response: ServerResponse,
  code: number,
  contentType: string,
  pieces: readonly Uint8Array[],
): void {
  const body = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces)
  if (body.length >= gzipFromBytes && acceptsGzip(ctx)) {
    openBody(ctx, response, code, contentType, body.length).end(body)
    return
  }
  response.writeHead(code, { ...commonHeaders(contentType), "content-length": body.length }).end(body)
}

function commonHeaders(contentType: string): Record<string, string> {
  return { "content-type": contentType, "cache-control": "no-cache, private" }
}

const acceptsGzip = (ctx: RequestContext): boolean => /\bgzip\b/.test(ctx.headers["accept-encoding"] ?? "")

/** zlib works in the thread pool: compressing does not hold up others. */
function openBody(
  ctx: RequestContext,
  response: ServerResponse,
  code: number,
  contentType: string,
  size: number,
): Writable {
  if (size < gzipFromBytes || !acceptsGzip(ctx)) {
    response.writeHead(code, commonHeaders(contentType))
    return response
  }
  response.writeHead(code, { ...commonHeaders(contentType), "content-encoding": "gzip", vary: "Accept-Encoding" })
  const gzip = createGzip({ level: 1 })
  gzip.pipe(response)
  response.on("close", () => gzip.destroy())
  return gzip
}
