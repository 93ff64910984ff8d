// Reads a LevelDB table in order and in pieces: one call to LevelDB's thread returns many entries, and between calls the
// current entry is available without waiting.
//
// Pieces start small and stay moderate. An iterator keeps its last piece, and room for the largest number of entries ever requested at
// once, until V8 collects it, even if it is closed; and V8 does not know of this memory. With a thousand entries per
// call, closed iterators held more memory than everything in use.

import type { AbstractIterator, AbstractSnapshot } from "abstract-level"
import type { Database } from "./database.ts"

/** Maximum number of entries per call to LevelDB. */
const pieceBytes = 64 * 1024
const pieceEntries = 256
/** Factor by which each piece is longer than the previous one: most ranges are short, whatever their limit. */
const firstEntries = 32
const growth = 4

interface CursorOptions<K> {
  gt?: K
  gte?: K
  lt: K
  snapshot?: AbstractSnapshot
  keyEncoding: "utf8" | "buffer"
  values?: boolean
  /** Upper limit of the number of entries that will be read. */
  expected?: number
}

export class Cursor<K extends string | Buffer> implements AsyncDisposable {
  readonly #iterator: AbstractIterator<Database, K, Buffer>
  #piece: [K, Buffer][] = []
  #at = 0
  #size: number
  #ended = false

  constructor(database: Database, options: CursorOptions<K>) {
    const { expected = firstEntries, ...range } = options
    this.#size = Math.max(1, Math.min(expected, firstEntries))
    const iteratorOptions = { ...range, valueEncoding: "buffer", highWaterMarkBytes: pieceBytes }
    this.#iterator = database.iterator<K, Buffer>(iteratorOptions)
  }

  /** Undefined: if `drained`, a piece must be fetched first; otherwise it is the end. */
  get entry(): [K, Buffer] | undefined {
    return this.#piece[this.#at]
  }

  get drained(): boolean {
    return this.#at === this.#piece.length && !this.#ended
  }

  async fetch(): Promise<void> {
    this.#piece = await this.#iterator.nextv(this.#size)
    this.#at = 0
    this.#size = Math.min(pieceEntries, growth * this.#size)
    this.#ended = this.#piece.length === 0
  }

  advance(): void {
    this.#at++
  }

  /** From the current entry to the end. */
  async *[Symbol.asyncIterator](): AsyncGenerator<[K, Buffer]> {
    for (;;) {
      if (this.drained) await this.fetch()
      const { entry } = this
      if (entry === undefined) return
      this.advance()
      yield entry
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#iterator.close()
  }
}
