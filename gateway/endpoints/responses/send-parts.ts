// Sends a body that is produced in parts: at once if it is short, otherwise as a stream, compressed for clients that accept it, and
// with backpressure.

import type { ServerResponse } from "node:http"
import type { RequestContext } from "../../request/context.ts"
import { acceptsGzip, compressFromBytes, drained, gzipHeaders, plainHeaders, sendBytes } from "./body-writer.ts"
import { type Deflated, GzipJoin } from "./gzip-join.ts"
import type { Part } from "./list-body.ts"

/** Bytes written at once. */
const writeBytes = 128 * 1024
/** From this size on, the last piece is not copied to be written together with the others. */
const separateBytes = 1024 * 1024

export async function sendParts(
  ctx: RequestContext,
  response: ServerResponse,
  contentType: string,
  parts: AsyncIterable<Part>,
): Promise<void> {
  const first: Part[] = []
  let bytes = 0
  let out: PartsWriter | undefined
  try {
    for await (const part of parts) {
      if (out === undefined) {
        first.push(part)
        bytes += part.length
        if (bytes < compressFromBytes) continue
        out = new PartsWriter(ctx, response, contentType)
        for (let next = first.shift(); next !== undefined; next = first.shift()) await out.write(next)
      } else await out.write(part)
      if (response.destroyed) return
    }
    await out?.end()
  } catch (error) {
    // The response has started, so the error can only be signalled by closing the connection.
    if (response.headersSent) response.destroy(error instanceof Error ? error : undefined)
    throw error
  }
  if (out === undefined)
    sendBytes(
      ctx,
      response,
      200,
      contentType,
      first.map((part) => part.bytes()),
    )
}

class PartsWriter {
  readonly #ctx: RequestContext
  readonly #response: ServerResponse
  readonly #gzip: GzipJoin | undefined
  #waiting: Uint8Array[] = []
  #bytes = 0

  constructor(ctx: RequestContext, response: ServerResponse, contentType: string) {
    this.#ctx = ctx
    this.#response = response
    this.#gzip = acceptsGzip(ctx) ? new GzipJoin() : undefined
    response.writeHead(200, this.#gzip === undefined ? plainHeaders(contentType) : gzipHeaders(contentType))
    if (this.#gzip !== undefined) this.#waiting.push(this.#gzip.begin())
  }

  async write(part: Part): Promise<void> {
    const gzip = this.#gzip
    const bytes =
      gzip === undefined
        ? part.bytes()
        : part.deflated === undefined
          ? gzip.stored(part.bytes())
          : gzip.deflated(await part.deflated((job) => this.#aside(job)))
    this.#waiting.push(bytes)
    this.#bytes += bytes.length
    if (this.#bytes >= writeBytes) await this.#flush()
  }

  #aside(job: () => Promise<Deflated>): Promise<Deflated> {
    return this.#ctx.aside?.(job) ?? job()
  }

  async end(): Promise<void> {
    if (this.#gzip !== undefined) this.#waiting.push(this.#gzip.end())
    await this.#flush()
    this.#response.end()
  }

  async #flush(): Promise<void> {
    const pieces = this.#waiting
    this.#waiting = []
    this.#bytes = 0
    const long = (pieces.at(-1)?.length ?? 0) >= separateBytes ? pieces.pop() : undefined
    const short = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces)
    for (const piece of [short, long]) {
      if (piece === undefined || piece.length === 0) continue
      if (this.#response.destroyed) return
      if (!this.#response.write(piece)) await drained(this.#response, this.#response)
    }
    // Lets others have their turn between large pieces.
    const waiting = this.#ctx.turn?.()
    if (waiting !== undefined) await waiting
  }
}
