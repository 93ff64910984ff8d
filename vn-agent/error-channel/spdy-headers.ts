// The headers of SPDY streams, which one side compresses with what it has compressed before. Each block ends at a byte, as the protocol
// demands, so that it can be read alone with the last 32 KiB before it as a dictionary.

import { createRequire } from "node:module"
import { constants, inflateRawSync } from "node:zlib"

/** Of the headers of one stream; those of Kubernetes' streams have less than 200 bytes. */
const maxBlockBytes = 64 * 1024
const windowBytes = 32 * 1024
/** Of zlib: the method, and which dictionary is used. Only the first block has it. */
const zlibHeaderBytes = 6

/** The protocol's own; loaded on demand, since few processes ever have such a client. */
const dictionaryOfProtocol = (): Buffer =>
  (createRequire(import.meta.url)("spdy-transport/lib/spdy-transport/protocol/spdy/dictionary.js") as Buffer[])[3] ??
  Buffer.alloc(0)

export class HeaderBlocks {
  #window: Buffer | undefined

  /** Must be called with all blocks of a side, in order. Throws if it is none. */
  read(compressed: Buffer): ReadonlyMap<string, string> {
    const block = this.#window === undefined ? compressed.subarray(zlibHeaderBytes) : compressed
    const window = this.#window ?? dictionaryOfProtocol()
    const bytes = inflateRawSync(block, {
      dictionary: window,
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: maxBlockBytes,
    })
    this.#window = Buffer.concat([window, bytes]).subarray(-windowBytes)
    return parse(bytes)
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
