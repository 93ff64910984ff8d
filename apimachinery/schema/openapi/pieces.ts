// Assembles documents from pieces, and takes them apart.

import { printJson } from "../../go/print.ts"
import { isObject, type JsonObject } from "../json-object.ts"
import type { Piece, Pieces } from "./documents.ts"

/**
 * The JSON text of a document, generated from its pieces; pieces with the same parent must be adjacent. `print`: for names and values;
 * upstream's version 2 has other escapes than all other documents.
 */
export function* printPieces(pieces: Pieces, print: (value: unknown) => string = printJson): Generator<string> {
  let open: readonly string[] = []
  let text = "{"
  let first = true
  for (const piece of pieces) {
    if (piece === undefined) {
      yield ""
      continue
    }
    const { within, name, value } = piece
    let same = 0
    while (same < open.length && open[same] === within[same]) same++
    if (same < open.length) {
      text += "}".repeat(open.length - same)
      first = false
    }
    for (const step of within.slice(same)) {
      text += `${first ? "" : ","}${print(step)}:{`
      first = true
    }
    yield `${text}${first ? "" : ","}${print(name)}:${print(value)}`
    open = within
    text = ""
    first = false
  }
  yield `${text}${"}".repeat(open.length + 1)}`
}

/** Of a version 3 document. */
export function* piecesOf(document: JsonObject, within: readonly string[] = []): Generator<Piece> {
  for (const [name, value] of Object.entries(document)) {
    const path = [...within, name]
    const isParent = ["paths", "components", "components.schemas"].includes(path.join("."))
    if (isParent && isObject(value) && Object.keys(value).length > 0) yield* piecesOf(value, path)
    else yield { within, name, value }
  }
}
