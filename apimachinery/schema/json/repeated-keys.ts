// Duplicate keys in a text. Go decodes the second value over the first one: errors in the first are reported, and fields of
// structs and entries of maps that only the first has are kept.

import type { Json } from "../../object.ts"
import { isObject, ownValue, setOwn } from "../json-object.ts"
import { type Schema, schemaOfItems } from "../schema.ts"

/** `ranges`: ranges of the text, including the comma before the key. Removes all repetitions. */
export function withoutRepeats(text: string, ranges: readonly (readonly [start: number, end: number])[]): string {
  let rest = ""
  let at = 0
  for (const [start, end] of ranges.toSorted(([a], [b]) => a - b)) {
    if (start < at) continue // nested in another range
    rest += text.slice(at, start)
    at = end
  }
  return rest + text.slice(at)
}

/** Adds to the last values, in place, the fields that only the first ones have. */
export function keepFirst(first: Json, last: Json, schema: Schema | undefined): void {
  // Raw values are replaced as a whole.
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
    // The values of map entries are not merged.
    else if (schema.type !== "map") keepFirst(value, present, schema.fields?.[key]?.schema)
  }
}
