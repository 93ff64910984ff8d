// A document on its way to a client: whole or a part of it, compressed if the client takes that, or "not modified". Source:
// serveContent in Go's net/http.

import type { OutgoingHttpHeaders, ServerResponse } from "node:http"
import type { RequestContext } from "../../request/context.ts"
import { acceptsGzipAtAll } from "../responses/body-writer.ts"
import { conditionOf } from "./conditions.ts"
import { bytesOfDocument, type Document } from "./documents.ts"

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
  const described = { ...common, ...madeAt, "content-type": contentType }
  if (asked === "failed") {
    response.writeHead(412, { ...described, "content-length": 0 }).end()
    return
  }
  const headers = { ...described, ...(asFile ? { "accept-ranges": "bytes" } : {}) }
  if (asked.range !== undefined) {
    sendPart(response, await bytesOfDocument(ctx, found), asked.range, headers)
    return
  }
  if (found.compressed === undefined || !acceptsGzipAtAll(ctx)) {
    response.writeHead(200, { ...headers, "content-length": found.size }).end(await bytesOfDocument(ctx, found))
    return
  }
  const varied = vary.includes("Accept-Encoding") ? vary : [vary, "Accept-Encoding"].filter(Boolean).join(", ")
  const encoded = { ...headers, vary: varied, "content-encoding": "gzip", "content-length": found.compressed.length }
  response.writeHead(200, encoded).end(found.compressed)
}

/** One range; several are answered with all, as a server may. */
function sendPart(response: ServerResponse, bytes: Buffer, range: string, headers: OutgoingHttpHeaders): void {
  if (range.includes(",")) {
    response.writeHead(200, { ...headers, "content-length": bytes.length }).end(bytes)
    return
  }
  // Beyond it there is no place in any document.
  const longest = 100
  const text = range.length > longest ? "" : range
  const [, first = "", last = ""] = /^bytes=\s*(?:(\d+)\s*)?-\s*(?:(\d+)\s*)?$/.exec(text) ?? []
  const isReversed = first !== "" && last !== "" && Number(first) > Number(last)
  if ((first === "" && last === "") || isReversed) {
    refuseRange(response, headers, "invalid range\n")
    return
  }
  const start = first === "" ? Math.max(0, bytes.length - Number(last)) : Number(first)
  const end = first === "" || last === "" ? bytes.length : Math.min(bytes.length, Number(last) + 1)
  if (start >= bytes.length) {
    response.setHeader("content-range", `bytes */${bytes.length}`)
    refuseRange(response, headers, "invalid range: failed to overlap\n")
    return
  }
  const part = bytes.subarray(start, end)
  const about = { "content-range": `bytes ${start}-${end - 1}/${bytes.length}`, "content-length": part.length }
  response.writeHead(206, { ...headers, ...about }).end(part)
}

function refuseRange(response: ServerResponse, { vary }: OutgoingHttpHeaders, message: string): void {
  const contentType = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" }
  const headers = { ...contentType, "content-length": message.length, ...(vary === undefined ? {} : { vary }) }
  response.writeHead(416, headers).end(message)
}
