// The bytes of a body as they come. Whoever sends it may send three million pieces of one byte each, which would hold two hundred
// times as much if they were kept one by one.

/** Shorter pieces are copied together. */
export const smallBytes = 1024
const blockBytes = 16 * 1024

export class GatheredBytes {
  /** Of all pieces. */
  length = 0
  readonly #pieces: Buffer[] = []
  /** Contains the last pieces, which are small, in its first bytes. */
  #block: Buffer | undefined
  #filled = 0

  add(piece: Buffer): void {
    // A body that comes at once is not copied.
    const isKept = piece.length >= smallBytes || this.length === 0
    this.length += piece.length
    if (isKept) {
      this.#endBlock()
      this.#pieces.push(piece)
      return
    }
    if (this.#filled + piece.length > blockBytes) this.#endBlock()
    this.#block ??= Buffer.allocUnsafe(blockBytes)
    this.#filled += piece.copy(this.#block, this.#filled)
  }

  /** Everything so far. */
  all(): Buffer {
    this.#endBlock()
    const [only] = this.#pieces
    return this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces)
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
