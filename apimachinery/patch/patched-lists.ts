// Lists while a JSON patch is applied to them: an operation in the middle of a long one must not move all that lies behind it, ten
// thousand times over. A long list is kept in pieces from the first item that is put into it or taken out of it.

import type { Json } from "../object.ts"

/** Items; shorter lists stay as they are. */
const long = 4096
const pieceSize = 512

export class PatchedLists {
  /** Of lists that are in pieces, by the list in the document, which is written anew when somebody looks at it as a whole. */
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

  /** The value with all its items, for who reads it. */
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

  /** The piece an item lies in; or the last one, behind its end. */
  #at(index: number): { piece: Json[]; place: number; number: number } {
    let place = index
    for (const [number, piece] of this.#pieces.entries()) {
      if (place < piece.length || number === this.#pieces.length - 1) return { piece, place, number }
      place -= piece.length
    }
    throw new Error("a long list has pieces")
  }
}
