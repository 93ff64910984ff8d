// The body of a watch. Over HTTP/1.1 each event is a chunk, which is framed once for all its watches and written in one piece. This
// costs half as much as Node's own framing. What is written at once is limited, because it is encrypted at once, for each watch.

import type { ServerResponse } from "node:http"
import type { Writable } from "node:stream"

/** Framed chunks by document; they live as long as the document. */
const chunks = new WeakMap<Buffer, Buffer>()

const lineEnd = Buffer.from("\r\n")
const lastChunk = "0\r\n\r\n"

/** Bytes that are written at once. */
const portionBytes = 128 * 1024

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
  /** What is to be written for the documents, none of which is empty: one portion when the one before has been taken. */
  portions(documents: readonly Buffer[]): Iterable<Buffer>
  /** A portion. False: wait for "drain". */
  write(portion: Buffer): boolean
  end(): void
  /** Ends it at once, with what the client has not taken. */
  cut(): void
}

export class EventStream implements EventSink {
  readonly #response: ServerResponse
  /** HTTP/1.1 only: HTTP/2 has frames, and in HTTP/1.0 the end of the connection ends the body. */
  readonly #inChunks: boolean
  /** The last portion does not end a document. */
  #isWithin = false

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

  portions(documents: readonly Buffer[]): Iterable<Buffer> {
    const pieces = this.#inChunks ? documents.map(chunkOf) : documents
    const [only] = pieces
    return pieces.length === 1 && only !== undefined && only.length <= portionBytes ? pieces : this.#divided(pieces)
  }

  *#divided(pieces: readonly Buffer[]): Generator<Buffer> {
    let waiting: Buffer[] = []
    let bytes = 0
    for (const piece of pieces) {
      if (bytes > 0 && bytes + piece.length > portionBytes) {
        yield Buffer.concat(waiting)
        waiting = []
        bytes = 0
      }
      if (piece.length <= portionBytes) {
        waiting.push(piece)
        bytes += piece.length
      } else yield* this.#slices(piece)
    }
    if (bytes > 0) yield Buffer.concat(waiting)
  }

  *#slices(piece: Buffer): Generator<Buffer> {
    for (let at = 0; at < piece.length; at += portionBytes) {
      this.#isWithin = at + portionBytes < piece.length
      yield piece.subarray(at, at + portionBytes)
    }
  }

  write(portion: Buffer): boolean {
    return this.#response.write(portion)
  }

  end(): void {
    if (this.#isWithin) this.cut()
    else if (this.#inChunks) this.#response.end(lastChunk)
    else this.#response.end()
  }

  cut(): void {
    this.#response.destroy()
  }
}
