// The bytes of a body as they come. Whoever sends it may send three million pieces of one byte each, which would hold two hundred
// times as much if they were kept one by one.

const smallBytes = 1024
const blockBytes = 16 * 1024

/**
 * Such pieces are copied together: each holds more than its bytes if it is kept as it is. Over HTTP/2 it is a part of all that was read at
 * once, up to 64 KiB, most of which may be none of the body's.
 */
export const isSmall = (piece: unknown): piece is Buffer =>
  Buffer.isBuffer(piece) && (piece.length < smallBytes || piece.length < piece.buffer.byteLength / 2)

export class GatheredBytes {
  /** Of all pieces. */
  length = 0
  readonly #pieces: Buffer[] = []
  /** Contains the last pieces, which are small, in its first bytes. */
  #block: Buffer | undefined
  #filled = 0

  add(piece: Buffer): void {
    // A body that comes at once is not copied.
    const isKept = !isSmall(piece) || this.length === 0
    this.length += piece.length
    if (isKept) {
      this.#endBlock()
      this.#pieces.push(piece)
      return
    }
    for (let at = 0; at < piece.length;) {
      if (this.#filled === blockBytes) this.#endBlock()
      // Not of Node's pool, of which the few bytes of a block that ends early would hold 64 KiB.
      this.#block ??= Buffer.allocUnsafeSlow(blockBytes)
      const copied = piece.copy(this.#block, this.#filled, at)
      this.#filled += copied
      at += copied
    }
  }

  /** Everything so far. */
  all(): Buffer {
    this.#endBlock()
    const [only] = this.#pieces
    return this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces)
  }

  /** Everything so far, of which nothing is left here. */
  take(): Buffer {
    const bytes = this.all()
    this.clear()
    return bytes
  }

  clear(): void {
    this.length = 0
    this.#pieces.length = 0
    this.#block = undefined
    this.#filled = 0
  }

  #endBlock(): void {
    if (this.#block === undefined) return
    const bytes = this.#block.subarray(0, this.#filled)
    // Each of many blocks may end early, because a longer piece follows.
    this.#pieces.push(this.#filled < blockBytes / 2 ? Buffer.from(bytes) : bytes)
    this.#block = undefined
    this.#filled = 0
  }
}
