// Lists during the application of a JSON patch: operations in the middle of a long list must not move all the following items
// each time (up to ten thousand times). A long list is split into pieces on the first insertion or removal.

import type { Json } from "../object.ts"

/** Number of items; shorter lists are not split. */
const long = 4096
const pieceSize = 512

export class PatchedLists {
  /** The pieces of split lists, by the list in the document, whose content is only updated when the whole list is read. */
  readonly #pieces = new Map<readonly Json[], Pieces>()

  length(list: readonly Json[]): number {
    return this.#pieces.get(list)?.length ?? list.length
  }

  get(list: readonly Json[], index: number): Json | undefined {
    const pieces = this.#pieces.get(list)
    return pieces === undefined ? list[index] : pieces.get(index)
  }

  set(list: Json[], index: number, value: Json): void {
    const pieces = this.#pieces.get(list)
    if (pieces === undefined) list[index] = value
    else pieces.set(index, value)
  }

  insert(list: Json[], index: number, value: Json): void {
    const pieces = this.#piecesOf(list)
    if (pieces === undefined) list.splice(index, 0, value)
    else pieces.insert(index, value)
  }

  remove(list: Json[], index: number): void {
    const pieces = this.#piecesOf(list)
    if (pieces === undefined) list.splice(index, 1)
    else pieces.remove(index)
  }

  /** The value with the current content of its lists. */
  whole(value: Json): Json {
    if (this.#pieces.size === 0 || typeof value !== "object" || value === null) return value
    if (Array.isArray(value)) this.#write(value)
    for (const inner of Object.values(value)) this.whole(inner)
    return value
  }

  #piecesOf(list: Json[]): Pieces | undefined {
    let pieces = this.#pieces.get(list)
    if (pieces === undefined && list.length >= long) this.#pieces.set(list, (pieces = new Pieces(list)))
    return pieces
  }

  #write(list: Json[]): void {
    const pieces = this.#pieces.get(list)
    if (pieces === undefined) return
    this.#pieces.delete(list)
    list.length = 0
    for (const item of pieces.items()) list.push(item)
  }
}

class Pieces {
  readonly #pieces: Json[][] = []
  length: number

  constructor(list: readonly Json[]) {
    this.length = list.length
    for (let at = 0; at < list.length; at += pieceSize) this.#pieces.push(list.slice(at, at + pieceSize))
  }

  get(index: number): Json | undefined {
    const { piece, place } = this.#at(index)
    return piece[place]
  }

  set(index: number, value: Json): void {
    const { piece, place } = this.#at(index)
    piece[place] = value
  }

  insert(index: number, value: Json): void {
    const { piece, place, number } = this.#at(index)
    piece.splice(place, 0, value)
    if (piece.length > 2 * pieceSize) this.#pieces.splice(number + 1, 0, piece.splice(pieceSize))
    this.length++
  }

  remove(index: number): void {
    const { piece, place } = this.#at(index)
    piece.splice(place, 1)
    this.length--
  }

  *items(): Generator<Json> {
    for (const piece of this.#pieces) yield* piece
  }

  /** The piece that contains an item; or the last piece for an index at the end. */
  #at(index: number): { piece: Json[]; place: number; number: number } {
    let place = index
    for (const [number, piece] of this.#pieces.entries()) {
      if (place < piece.length || number === this.#pieces.length - 1) return { piece, place, number }
      place -= piece.length
    }
    throw new Error("a long list has pieces")
  }
}
