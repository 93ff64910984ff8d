// Reads sets from clients, which may be in any order and form.

import type { Json } from "../object.ts"
import { isObject } from "../schema/json-object.ts"
import { type Draft, type FieldSet, place, unionPlaces } from "./field-set.ts"
import { inOrder } from "./in-order.ts"
import { canonicalElement, self } from "./path-element.ts"

/** Maximum depth of a set from a client: the same as for objects. */
const maxDepth = 1000

/** The canonical form of a set from a client. Throws SyntaxError if it is invalid. */
export function canonicalSet(value: Json): FieldSet {
  if (!isObject(value)) throw new SyntaxError("fieldsV1 is no object")
  return canonicalPlace(value, 0)
}

function canonicalPlace(value: { [element: string]: Json }, depth: number): FieldSet {
  if (depth > maxDepth) throw new SyntaxError("fieldsV1 is nested too deeply")
  const result: Draft = {}
  let member = false
  for (const [text, child] of Object.entries(value)) {
    if (text === self) {
      member = true
      continue
    }
    const element = canonicalElement(text)
    if (element === undefined) continue
    if (child !== null && !isObject(child)) throw new SyntaxError(`no object at ${text}`)
    const found = canonicalPlace(child ?? {}, depth + 1)
    const present = result[element]
    result[element] = present === undefined ? found : unionPlaces(present, found)
  }
  const children = inOrder(result)
  return place(member && depth > 0, children) ?? children
}
