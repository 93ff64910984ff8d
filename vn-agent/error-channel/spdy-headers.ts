// The headers of SPDY streams, which one side compresses with what it has compressed before. Each block ends at a byte, as the protocol
// demands, so that it can be read alone with the last 32 KiB before it as a dictionary.

import { createRequire } from "node:module"
import { constants, inflateRawSync } from "node:zlib"

/** Of the headers of one stream. A client may send many that are short when compressed. */
const maxBlockBytes = 4 * 1024
/** Those of Kubernetes' streams have less than 200 bytes. */
const usualBlockBytes = 1024
const windowBytes = 32 * 1024
/** Of zlib: the method, and which dictionary is used. Only the first block has it. */
const zlibHeaderBytes = 6

/** The protocol's own; loaded on demand, since few processes ever have such a client. */
const dictionaryOfProtocol = (): Buffer =>
  (createRequire(import.meta.url)("spdy-transport/lib/spdy-transport/protocol/spdy/dictionary.js") as Buffer[])[3] ??
  Buffer.alloc(0)

export class HeaderBlocks {
  /** The end of what has been read, with room for more: a block is far shorter than the window. */
  #kept: Buffer = Buffer.alloc(0)
  #end = 0

  /** Must be called with all blocks of a side, in order. Throws if it is none. */
  read(compressed: Buffer): ReadonlyMap<string, string> {
    const isFirst = this.#end === 0
    if (isFirst) this.#keep(dictionaryOfProtocol())
    const bytes = inflateRawSync(isFirst ? compressed.subarray(zlibHeaderBytes) : compressed, {
      dictionary: this.#window,
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: maxBlockBytes,
      chunkSize: usualBlockBytes,
    })
    this.#keep(bytes)
    return parse(bytes)
  }

  get #window(): Buffer {
    return this.#kept.subarray(Math.max(0, this.#end - windowBytes), this.#end)
  }

  #keep(bytes: Buffer): void {
    if (this.#end + bytes.length > this.#kept.length) {
      const needed = [this.#window, bytes]
      this.#end = this.#window.length
      this.#kept = Buffer.concat(needed, 2 * (this.#end + bytes.length))
    } else bytes.copy(this.#kept, this.#end)
    this.#end += bytes.length
  }
}

/** Their number, and each name and value with its length before it. */
function parse(bytes: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>()
  let offset = 4
  const next = (): string => {
    const start = offset + 4
    offset = start + bytes.readUInt32BE(offset)
    return bytes.toString("latin1", start, offset)
  }
  while (offset < bytes.length) headers.set(next(), next())
  return headers
}
