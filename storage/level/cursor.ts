// Reading a LevelDB table in order, in pieces: one hop to LevelDB's thread brings many entries, and between hops the
// current entry is looked at without waiting.
//
// Pieces begin small and stay moderate. An iterator keeps its last piece, and room for as many entries as were ever asked for at
// once, when it is closed too, until V8 collects it; and V8 is not told that it has any memory. Asked for a thousand each time,
// what lay behind iterators that were done was more than all that was in use.

import type { AbstractIterator, AbstractSnapshot } from "abstract-level"
import type { Database } from "./database.ts"

/** Fetched from LevelDB at once, at most. */
const pieceBytes = 64 * 1024
const pieceEntries = 256
/** Most ranges are short, whatever their limit. Each piece is so many times as long as the one before. */
const firstEntries = 32
const growth = 4

export interface CursorOptions<K> {
  gt?: K
  gte?: K
  lt: K
  snapshot?: AbstractSnapshot
  keyEncoding: "utf8" | "buffer"
  values?: boolean
  /** At most so many entries will be asked for. */
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

/** The first key of a range. */
export async function firstKey<K extends string | Buffer>(
  database: Database,
  options: Pick<CursorOptions<K>, "gte" | "keyEncoding"> & { lt?: K; reverse?: boolean },
): Promise<K | undefined> {
  await using keys = database.keys<K>(options)
  const [first] = await keys.nextv(1)
  return first
}
