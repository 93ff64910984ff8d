// The value of an OpenAPI document, for tests.

import { isObject, type JsonObject } from "../json-object.ts"
import type { Pieces } from "../openapi/documents.ts"

export function gatherPieces(pieces: Pieces): JsonObject {
  const document: JsonObject = {}
  for (const piece of pieces) {
    if (piece === undefined) continue
    const { within, name, value } = piece
    let at = document
    for (const step of within) {
      const inner = at[step]
      at = isObject(inner) ? inner : (at[step] = {})
    }
    at[name] = value
  }
  return document
}
