// A document on its way to a client: whole or a part of it, compressed if the client takes that, or "not modified". Source:
// serveContent in Go's net/http.

import type { OutgoingHttpHeaders, ServerResponse } from "node:http"
import type { RequestContext } from "../../request/context.ts"
import { acceptsGzip, acceptsGzipAtAll } from "../responses/body-writer.ts"
import { conditionOf } from "./conditions.ts"
import { bytesOfDocument, type Document } from "./documents.ts"
import { type Part, partsOf } from "./ranges.ts"

export interface SendOptions {
  contentType: string
  cacheControl?: string
  /** Header fields the answer depends on. "": none. */
  vary?: string
  /** A document without an ETag is identified by its time alone. */
  etag?: boolean
  expires?: Date
  /** It says when it was made, and parts of it may be asked for. */
  asFile?: boolean
}

export async function sendDocument(
  ctx: RequestContext,
  response: ServerResponse,
  found: Document,
  options: SendOptions,
): Promise<void> {
  const { contentType, cacheControl = "public", vary = "Accept", etag = true, expires, asFile = false } = options
  const common: OutgoingHttpHeaders = {
    "cache-control": cacheControl,
    ...(etag ? { etag: `"${found.etag}"` } : {}),
    ...(vary === "" ? {} : { vary }),
    ...(expires === undefined ? {} : { expires: expires.toUTCString().replace("GMT", "UTC") }),
  }
  const madeAt = asFile ? { "last-modified": found.madeAt.toUTCString() } : {}
  const tag = `"${found.etag}"`
  const validators = { madeAt: found.madeAt, ...(etag ? { etag: tag } : {}) }
  // A document that is not a file is identified by its ETag alone, which must be the one that was sent.
  const asked = asFile
    ? conditionOf(ctx.headers, response.req.method, validators)
    : ctx.headers["if-none-match"] === tag
      ? "known"
      : { range: undefined }
  if (asked === "known") {
    response.writeHead(304, { ...common, ...(etag ? {} : madeAt) }).end()
    return
  }
  // Without an ETag, the type is what the bytes look like, which are not looked at then.
  if (asked === "failed") {
    const described = etag ? { ...common, ...madeAt, "content-type": contentType } : { ...common, ...madeAt }
    response.writeHead(412, { ...described, "content-length": 0 }).end()
    return
  }
  const headers = {
    ...common,
    ...madeAt,
    "content-type": contentType,
    ...(asFile ? { "accept-ranges": "bytes" } : {}),
  }
  const parts = asked.range === undefined ? [] : partsOf(asked.range, found.size)
  if (parts === undefined || parts === "beyond") refuseRange(response, vary, parts, found.size)
  else await sendParts(ctx, response, found, { headers, vary, parts, asFile })
}

interface Sending {
  headers: OutgoingHttpHeaders
  vary: string
  /** None: all of it. */
  parts: readonly Part[]
  asFile: boolean
}

async function sendParts(
  ctx: RequestContext,
  response: ServerResponse,
  found: Document,
  { headers, vary, parts, asFile }: Sending,
): Promise<void> {
  const [part] = parts
  // Several are answered with all, as a server may.
  if (part !== undefined && parts.length === 1) {
    sendPart(response, await bytesOfDocument(ctx, found), part, headers)
    return
  }
  const takesGzip = asFile ? response.req.method !== "HEAD" && acceptsGzipAtAll(ctx) : acceptsGzip(ctx)
  if (found.compressed === undefined || !takesGzip) {
    response.writeHead(200, { ...headers, "content-length": found.size }).end(await bytesOfDocument(ctx, found))
    return
  }
  const varied = vary.includes("Accept-Encoding") ? vary : [vary, "Accept-Encoding"].filter(Boolean).join(", ")
  const encoded = { ...headers, vary: varied, "content-encoding": "gzip", "content-length": found.compressed.length }
  response.writeHead(200, encoded).end(found.compressed)
}

function sendPart(
  response: ServerResponse,
  bytes: Buffer,
  { start, length }: Part,
  headers: OutgoingHttpHeaders,
): void {
  const about = { "content-range": `bytes ${start}-${start + length - 1}/${bytes.length}`, "content-length": length }
  response.writeHead(206, { ...headers, ...about }).end(bytes.subarray(start, start + length))
}

function refuseRange(response: ServerResponse, vary: string, reason: "beyond" | undefined, size: number): void {
  const message = reason === undefined ? "invalid range\n" : "invalid range: failed to overlap\n"
  const headers = {
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
    "content-length": message.length,
    ...(vary === "" ? {} : { vary }),
    ...(reason === undefined ? {} : { "content-range": `bytes */${size}` }),
  }
  response.writeHead(416, headers).end(message)
}
