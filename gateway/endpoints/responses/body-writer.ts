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
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const failed = (error: Error): void => void response.destroy(error)
  if (length >= compressFromBytes && acceptsGzip(ctx)) {
    const body = joined(pieces)
    response.writeHead(code, gzipHeaders(contentType))
    // zlib runs in the thread pool, so compression does not block other requests.
    const job = (): Promise<Buffer> => compressed(body, { level: 1 })
    const done = ctx.aside?.(job) ?? job()
    done.then((bytes) => endInPortions(ctx, response, [bytes])).catch(failed)
    return
  }
  response.writeHead(code, { ...plainHeaders(contentType), "content-length": length })
  if (length <= portionBytes) response.end(joined(pieces))
  else endInPortions(ctx, response, pieces).catch(failed)
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces)
}

/** Written at once. Encrypting takes a millisecond or two per MiB. */
const portionBytes = 256 * 1024

/** Ends a response whose body may be long, as fast as the client takes it, and with turns for others. */
export async function endInPortions(
  { turn }: Pick<RequestContext, "turn">,
  response: ServerResponse,
  pieces: readonly Uint8Array[],
): Promise<void> {
  let last: Uint8Array | undefined
  for (const portion of portionsOf(pieces)) {
    if (last !== undefined) {
      if (response.destroyed) return
      if (!response.write(last)) await drained(response, response)
      await turn?.()
    }
    last = portion
  }
  response.end(last)
}

function* portionsOf(pieces: readonly Uint8Array[]): Generator<Uint8Array> {
  let portion: Uint8Array[] = []
  let length = 0
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += portionBytes) {
      const part = piece.subarray(from, from + portionBytes)
      portion.push(part)
      length += part.length
      if (length < portionBytes) continue
      yield joined(portion)
      portion = []
      length = 0
    }
  }
  if (length > 0) yield joined(portion)
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
