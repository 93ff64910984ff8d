// The body of a watch. Over HTTP/1.1 each event is a chunk, which is framed once for all its watches and written in one piece. This
// costs half as much as Node's own framing.

import type { ServerResponse } from "node:http"
import type { Writable } from "node:stream"

/** Framed chunks by document; they live as long as the document. */
const chunks = new WeakMap<Buffer, Buffer>()

const lineEnd = Buffer.from("\r\n")
const lastChunk = "0\r\n\r\n"

/** Allocates the chunk for a document of the given length. */
export function roomInChunk(length: number): Buffer {
  const size = Buffer.from(`${length.toString(16)}\r\n`, "latin1")
  const chunk = Buffer.allocUnsafe(size.length + length + lineEnd.length)
  size.copy(chunk)
  lineEnd.copy(chunk, size.length + length)
  const document = chunk.subarray(size.length, size.length + length)
  chunks.set(document, chunk)
  return document
}

function chunkOf(document: Buffer): Buffer {
  let chunk = chunks.get(document)
  if (chunk === undefined) {
    const room = roomInChunk(document.length)
    document.copy(room)
    chunk = chunks.get(room) ?? room
    chunks.set(document, chunk)
  }
  return chunk
}

/** What events are written to. */
export interface EventSink {
  /** What emits "drain". */
  readonly socket: Writable
  /** Bytes the client has not taken. */
  readonly unread: number
  /** None of them empty. False: wait for "drain". */
  write(documents: readonly Buffer[]): boolean
  end(): void
}

export class EventStream implements EventSink {
  readonly #response: ServerResponse
  /** HTTP/1.1 only: HTTP/2 has frames, and in HTTP/1.0 the end of the connection ends the body. */
  readonly #inChunks: boolean

  /** Create it after the response headers have been written. */
  constructor(response: ServerResponse) {
    this.#response = response
    response.flushHeaders()
    this.#inChunks = response.chunkedEncoding === true
    // From here on the written data is already framed.
    if (this.#inChunks) response.chunkedEncoding = false
  }

  get socket(): Writable {
    return this.#response
  }

  get unread(): number {
    return this.#response.writableLength
  }

  write(documents: readonly Buffer[]): boolean {
    const pieces = this.#inChunks ? documents.map(chunkOf) : documents
    const [only] = pieces
    return this.#response.write(pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces))
  }

  end(): void {
    if (this.#inChunks) this.#response.end(lastChunk)
    else this.#response.end()
  }
}
