// The entries of a store in memory, in key order. They are kept in pieces, so that the cost of an insertion does not grow with the
// number of entries: the super cluster of ten thousand tenants has a hundred thousand objects.

import { compareKeys, lowerBound, prefixEnd } from "../key-order.ts"
import type { KeyValue } from "../types.ts"

/** Entries per piece; a larger piece is split. */
const pieceSize = 512

interface Piece {
  keys: string[]
  entries: KeyValue[]
  /** Of the values, so that a long range is measured by the piece. */
  bytes: number
}

/** What a range selects. */
interface Selected {
  items: KeyValue[]
  /** Length of their values. */
  bytes: number
  /** Entries beyond the limit. */
  remaining: number
}

export class OrderedEntries {
  /** None is empty. */
  readonly #pieces: Piece[] = []
  /** The last key of each piece. */
  readonly #lastKeys: string[] = []

  set(entry: KeyValue): void {
    const { key } = entry
    const { at, piece } = this.#pieceFor(key)
    const last = this.#lastKeys[at] ?? ""
    // Entries are appended when the whole store is loaded, since they arrive in order.
    const place =
      piece.keys.length === 0 || compareKeys(last, key) < 0 ? piece.keys.length : lowerBound(piece.keys, key)
    if (piece.keys[place] === key) {
      piece.bytes += entry.value.byteLength - lengthIn(piece.entries, place, place + 1)
      piece.entries[place] = entry
      return
    }
    if (place === pieceSize) return this.#insert(at + 1, pieceOf([entry]))
    piece.keys.splice(place, 0, key)
    piece.entries.splice(place, 0, entry)
    piece.bytes += entry.value.byteLength
    if (place === piece.keys.length - 1) this.#lastKeys[at] = key
    if (piece.keys.length > pieceSize) this.#split(at, piece)
  }

  delete(key: string): void {
    const at = lowerBound(this.#lastKeys, key)
    const piece = this.#pieces[at]
    if (piece === undefined) return
    const place = lowerBound(piece.keys, key)
    if (piece.keys[place] !== key) return
    piece.bytes -= lengthIn(piece.entries, place, place + 1)
    piece.keys.splice(place, 1)
    piece.entries.splice(place, 1)
    const last = piece.keys.at(-1)
    if (last !== undefined) this.#lastKeys[at] = last
    else {
      this.#pieces.splice(at, 1)
      this.#lastKeys.splice(at, 1)
    }
  }

  /** Entries whose keys start with `prefix` and come after `after`: at most `limit`. */
  select(prefix: string, after: string | undefined, limit: number): Selected {
    const isAfter = after !== undefined && compareKeys(after, prefix) >= 0
    const from = isAfter ? after : prefix
    const end = prefixEnd(prefix)
    const items: KeyValue[] = []
    let bytes = 0
    let remaining = 0
    for (let at = lowerBound(this.#lastKeys, from, isAfter); at < this.#pieces.length; at++) {
      const { keys, entries, bytes: all } = this.#pieces[at] ?? pieceOf([])
      const start = lowerBound(keys, from, isAfter)
      const isLast = end !== undefined && compareKeys(this.#lastKeys[at] ?? "", end) >= 0
      const stop = Math.max(start, isLast ? lowerBound(keys, end) : keys.length)
      const taken = Math.min(stop, start + limit - items.length)
      for (const entry of entries.slice(start, taken)) items.push(entry)
      bytes += start === 0 && taken === keys.length ? all : lengthIn(entries, start, taken)
      remaining += stop - Math.max(start, taken)
      if (isLast) break
    }
    return { items, bytes, remaining }
  }

  /** The piece that contains the key, or into which it would be inserted. */
  #pieceFor(key: string): { at: number; piece: Piece } {
    const at = Math.max(0, Math.min(lowerBound(this.#lastKeys, key), this.#pieces.length - 1))
    let piece = this.#pieces[at]
    if (piece === undefined) {
      piece = pieceOf([])
      this.#pieces.push(piece)
      this.#lastKeys.push(key)
    }
    return { at, piece }
  }

  #split(at: number, piece: Piece): void {
    const { keys, entries } = piece
    const half = keys.length >>> 1
    const second = pieceOf(entries.splice(half))
    keys.length = half
    piece.bytes -= second.bytes
    this.#insert(at + 1, second)
    this.#lastKeys[at] = keys.at(-1) ?? ""
  }

  #insert(at: number, piece: Piece): void {
    this.#pieces.splice(at, 0, piece)
    this.#lastKeys.splice(at, 0, piece.keys.at(-1) ?? "")
  }
}

function pieceOf(entries: KeyValue[]): Piece {
  return { keys: entries.map(({ key }) => key), entries, bytes: lengthIn(entries, 0, entries.length) }
}

function lengthIn(entries: readonly KeyValue[], start: number, end: number): number {
  let bytes = 0
  for (let at = start; at < end; at++) bytes += entries[at]?.value.byteLength ?? 0
  return bytes
}
