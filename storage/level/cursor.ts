// Reading a LevelDB table in order, in pieces: one hop to LevelDB's thread brings many entries, and between hops the
// current entry is looked at without waiting.

import type { AbstractIterator, AbstractSnapshot } from "abstract-level"
import type { Database } from "./database.ts"

/** Bytes fetched from LevelDB at once. */
const pieceBytes = 256 * 1024
const pieceEntries = 1000

export interface CursorOptions<K> {
  gt?: K
  gte?: K
  lt: K
  snapshot: AbstractSnapshot
  keyEncoding: "utf8" | "buffer"
  values?: boolean
  /** Entries in the first piece; when more are asked for, the pieces grow. */
  expected?: number
}

export class Cursor<K extends string | Buffer> implements AsyncDisposable {
  readonly #iterator: AbstractIterator<Database, K, Buffer>
  #piece: [K, Buffer][] = []
  #at = 0
  #size: number
  #ended = false

  constructor(database: Database, options: CursorOptions<K>) {
    const { expected = pieceEntries, ...range } = options
    this.#size = Math.max(1, Math.min(expected, pieceEntries))
    const iteratorOptions = { ...range, valueEncoding: "buffer", highWaterMarkBytes: pieceBytes }
    this.#iterator = database.iterator<K, Buffer>(iteratorOptions)
  }

  /** Undefined: a piece is needed first when `drained`, otherwise it is the end. */
  get entry(): [K, Buffer] | undefined {
    return this.#piece[this.#at]
  }

  get drained(): boolean {
    return this.#at === this.#piece.length && !this.#ended
  }

  async fetch(): Promise<void> {
    this.#piece = await this.#iterator.nextv(this.#size)
    this.#at = 0
    this.#size = pieceEntries
    this.#ended = this.#piece.length === 0
  }

  advance(): void {
    this.#at++
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#iterator.close()
  }
}
