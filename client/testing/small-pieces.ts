// Pieces of one byte, of which a test knows how many are still held.

import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

export interface SmallPieces {
  /** A new one, with memory of its own. */
  next(): Buffer
  /** How many of them somebody still holds. */
  held(): number
}

export function smallPieces(): SmallPieces {
  setFlagsFromString("--expose-gc")
  const collectGarbage = runInNewContext("gc") as () => void
  const pieces: WeakRef<Buffer>[] = []
  return {
    next() {
      const piece = Buffer.alloc(1, pieces.length)
      pieces.push(new WeakRef(piece))
      return piece
    },
    held() {
      collectGarbage()
      return pieces.filter((piece) => piece.deref() !== undefined).length
    },
  }
}
