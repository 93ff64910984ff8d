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
