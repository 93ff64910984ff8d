// Assembles documents from pieces.

import type { Pieces } from "./documents.ts"

/** The JSON text of a document, generated from its pieces; pieces with the same parent must be adjacent. */
export function* printPieces(pieces: Pieces): Generator<string> {
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
      text += `${first ? "" : ","}${JSON.stringify(step)}:{`
      first = true
    }
    yield `${text}${first ? "" : ","}${JSON.stringify(name)}:${JSON.stringify(value)}`
    open = within
    text = ""
    first = false
  }
  yield `${text}${"}".repeat(open.length + 1)}`
}
