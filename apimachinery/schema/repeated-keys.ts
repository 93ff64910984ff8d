// Keys that stand twice in a text. Go reads the second value over the first one: what is wrong with the first is told, and fields of
// structs and entries of maps that only the first one has stay.

import type { Json } from "../object.ts"
import { isObject, ownValue, setOwn } from "./json-object.ts"
import { type Schema, schemaOfItems } from "./schema.ts"

/** `ranges`: of the text, with the comma before the key. Only what stands first is left. */
export function withoutRepeats(text: string, ranges: readonly (readonly [start: number, end: number])[]): string {
  let rest = ""
  let at = 0
  for (const [start, end] of ranges.toSorted(([a], [b]) => a - b)) {
    if (start < at) continue // within another one
    rest += text.slice(at, start)
    at = end
  }
  return rest + text.slice(at)
}

/** Into the last values, in place, what only the first ones have. */
export function keepFirst(first: Json, last: Json, schema: Schema | undefined): void {
  // What is kept as it came is read as a whole, each time.
  if (schema === undefined || schema.type === "any" || schema.preserveUnknown === true) return
  if (Array.isArray(first) && Array.isArray(last)) {
    const items = schemaOfItems(schema)
    for (const [index, item] of last.entries()) keepFirst(first[index] ?? null, item, items)
    return
  }
  if (!isObject(first) || !isObject(last)) return
  for (const [key, value] of Object.entries(first)) {
    const present = ownValue(last, key)
    if (present === undefined) setOwn(last, key, value)
    // An entry of a map is another one each time.
    else if (schema.type !== "map") keepFirst(value, present, schema.fields?.[key]?.schema)
  }
}
