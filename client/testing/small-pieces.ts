// Small pieces, of which a test knows how many are still held.

import { collectGarbage } from "../../apimachinery/testing/garbage.ts"

export interface SmallPieces {
  /** A new one, with memory that it shares with none. */
  next(): Buffer
  /** Of how many of them somebody still holds the memory. */
  held(): number
}

/** Of that many bytes, in a memory of so many. */
export function smallPieces(bytes = 1, memoryBytes = bytes): SmallPieces {
  const memories: WeakRef<ArrayBufferLike>[] = []
  return {
    next() {
      const piece = Buffer.alloc(memoryBytes, memories.length).subarray(0, bytes)
      memories.push(new WeakRef(piece.buffer))
      return piece
    },
    held() {
      collectGarbage()
      return memories.filter((memory) => memory.deref() !== undefined).length
    },
  }
}

/** An HTTP/1.1 response whose body comes in that many chunks of one byte, after which the connection ends. */
export const tinyChunks = (count: number): string =>
  `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${"1\r\nx\r\n".repeat(count)}0\r\n\r\n`

/** Of such a response, in whatever chunks it has arrived: their number, and the body. */
export function readChunks(response: string): { chunks: number; body: string } {
  const pieces = Array.from(response.matchAll(/^[\da-f]+\r\n(x+)\r\n/gm), ([, piece = ""]) => piece)
  return { chunks: pieces.length, body: pieces.join("") }
}
