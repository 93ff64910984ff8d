// Writes response bodies: compressed if the client accepts that and the body is large enough, and with backpressure.

import type { ServerResponse } from "node:http"
import type { Writable } from "node:stream"
import { promisify } from "node:util"
import { gzip } from "node:zlib"
import type { RequestContext } from "../../request/context.ts"

/** The smallest bodies that are compressed for clients that accept it: as upstream, larger than 128 KiB. */
export const compressFromBytes = 128 * 1024 + 1

const compressed = promisify(gzip)

interface Asked {
  headers: { readonly "accept-encoding"?: string | undefined }
}

/** Resolves when `out` accepts more data or the client has disconnected. */
export function drained(out: Writable, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      out.off("drain", done)
      response.off("close", done)
      resolve()
    }
    out.on("drain", done)
    response.on("close", done)
  })
}

/** Sends a complete body. */
export function sendBytes(
  ctx: RequestContext,
  response: ServerResponse,
  code: number,
  contentType: string,
  pieces: readonly Uint8Array[],
): void {
  const body = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces)
  if (body.length >= compressFromBytes && acceptsGzip(ctx)) {
    response.writeHead(code, gzipHeaders(contentType))
    // zlib runs in the thread pool, so compression does not block other requests.
    const job = (): Promise<Buffer> => compressed(body, { level: 1 })
    const done = ctx.aside?.(job) ?? job()
    done.then(
      (bytes) => response.end(bytes),
      (error: Error) => response.destroy(error),
    )
    return
  }
  response.writeHead(code, { ...plainHeaders(contentType), "content-length": body.length }).end(body)
}

export function plainHeaders(contentType: string): Record<string, string> {
  return { "content-type": contentType, "cache-control": "no-cache, private" }
}

export function gzipHeaders(contentType: string): Record<string, string> {
  return { ...plainHeaders(contentType), "content-encoding": "gzip", vary: "Accept-Encoding" }
}

/** Of documents and metrics, as upstream's for them. RFC 9110, section 12.5.3, without `*`. */
export function acceptsGzipAtAll({ headers }: Asked): boolean {
  const codings = (headers["accept-encoding"] ?? "").split(",").map((coding) => coding.toLowerCase().split(";"))
  const gzips = codings.filter(([name]) => name?.trim() === "gzip")
  return gzips.some(([, ...parameters]) => !parameters.some((one) => /^\s*q=0(?:\.0*)?\s*$/.test(one)))
}

/** Of all else: the word alone, as upstream; with a quality it is none. */
export function acceptsGzip({ headers }: Asked): boolean {
  const given = headers["accept-encoding"]
  return given !== undefined && (given === "gzip" || given.split(",").some((word) => word.trim() === "gzip"))
}
