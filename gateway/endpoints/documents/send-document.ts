// A document on its way to a client: whole or a part of it, compressed if the client takes that, or "not modified". Source:
// serveContent in Go's net/http.

import { randomBytes } from "node:crypto"
import type { OutgoingHttpHeaders, ServerResponse } from "node:http"
import type { RequestContext } from "../../request/context.ts"
import { acceptsGzip, acceptsGzipAtAll, endInPortions } from "../responses/body-writer.ts"
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
  const asked = parts.reduce((sum, { length }) => sum + length, 0)
  // Of parts that are more than the document, all of it is sent.
  if (part !== undefined && asked <= found.size) {
    const bytes = await bytesOfDocument(ctx, found)
    if (parts.length === 1) await sendPart(ctx, response, bytes, part, headers)
    else await sendSeveral(ctx, response, bytes, parts, headers)
    return
  }
  const takesGzip = asFile ? response.req.method !== "HEAD" && acceptsGzipAtAll(ctx) : acceptsGzip(ctx)
  if (found.compressed === undefined || !takesGzip) {
    const bytes = await bytesOfDocument(ctx, found)
    response.writeHead(200, { ...headers, "content-length": found.size })
    await endInPortions(ctx, response, [bytes])
    return
  }
  const varied = vary.includes("Accept-Encoding") ? vary : [vary, "Accept-Encoding"].filter(Boolean).join(", ")
  const encoded = { ...headers, vary: varied, "content-encoding": "gzip", "content-length": found.compressed.length }
  response.writeHead(200, encoded)
  await endInPortions(ctx, response, [found.compressed])
}

function sendPart(
  ctx: RequestContext,
  response: ServerResponse,
  bytes: Buffer,
  { start, length }: Part,
  headers: OutgoingHttpHeaders,
): Promise<void> {
  const about = { "content-range": rangeOf({ start, length }, bytes.length), "content-length": length }
  response.writeHead(206, { ...headers, ...about })
  return endInPortions(ctx, response, [bytes.subarray(start, start + length)])
}

function rangeOf({ start, length }: Part, size: number): string {
  return `bytes ${start}-${start + length - 1}/${size}`
}

/** As mime/multipart in Go writes them. */
function sendSeveral(
  ctx: RequestContext,
  response: ServerResponse,
  bytes: Buffer,
  parts: readonly Part[],
  headers: OutgoingHttpHeaders,
): Promise<void> {
  const boundary = randomBytes(30).toString("hex")
  const type = `Content-Type: ${String(headers["content-type"])}`
  const pieces = parts.flatMap((part, index) => [
    `${index === 0 ? "" : "\r\n"}--${boundary}\r\nContent-Range: ${rangeOf(part, bytes.length)}\r\n${type}\r\n\r\n`,
    bytes.subarray(part.start, part.start + part.length),
  ])
  const body = Buffer.concat([...pieces, `\r\n--${boundary}--\r\n`].map((piece) => Buffer.from(piece)))
  const about = { "content-type": `multipart/byteranges; boundary=${boundary}`, "content-length": body.length }
  response.writeHead(206, { ...headers, ...about })
  return endInPortions(ctx, response, [body])
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
