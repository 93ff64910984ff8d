// The body of a watch. Over HTTP/1.1 each event is a chunk: what frames it is made once for all who get the event, and it goes
// to the connection in one piece, which costs half of what Node's own framing does.

import type { ServerResponse } from "node:http"

/** What a document is on the wire. Goes with the document. */
const chunks = new WeakMap<Buffer, Buffer>()

const lineEnd = Buffer.from("\r\n")
const lastChunk = "0\r\n\r\n"

/** For a document of so many bytes, in the middle of its chunk. */
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

export class EventStream {
  readonly #response: ServerResponse
  /** HTTP/1.1: not with HTTP/2, which has frames, nor with HTTP/1.0, where the connection's end is the body's. */
  readonly #inChunks: boolean

  /** After the head of the answer has been written. */
  constructor(response: ServerResponse) {
    this.#response = response
    response.flushHeaders()
    this.#inChunks = response.chunkedEncoding === true
    // From here on what is written is on the wire as it is.
    if (this.#inChunks) response.chunkedEncoding = false
  }

  /** None of them empty. False: wait for "drain". */
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
