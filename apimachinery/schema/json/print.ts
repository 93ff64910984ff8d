// printJson() in steps, for objects with too many values for a single step (apimachinery/steps.ts).

import { printJson } from "../../go/print.ts"
import type { Json } from "../../object.ts"
import type { Steps } from "../../steps.ts"

/** Values that are printed in one step, about a quarter of a millisecond. */
const valuesAtOnce = 1000

/** The same text. Fields that are undefined are omitted. */
export function* printingJson(value: Json): Steps<string> {
  const large: Large = new Map()
  return isLarge(value, large) ? yield* printing(value, large) : printJson(value)
}

/** Lists and objects that take several steps, and the keys of the objects: only to list many keys takes milliseconds. */
type Large = Map<Json, readonly string[] | undefined>

function* printing(value: Json, large: Large): Steps<string> {
  const keys = large.get(value)
  const pieces: string[] = []
  let texts: string[] = []
  let size = 0
  for (const key of keys ?? (value as Json[]).keys()) {
    const inner = (value as Readonly<Record<string | number, Json | undefined>>)[key]
    if (inner === undefined) continue
    if (size >= valuesAtOnce) {
      size = 0
      pieces.push(texts.join(","))
      texts = []
      yield
    }
    size += valuesIn(inner, valuesAtOnce, large)
    let printed: string
    if (large.has(inner)) {
      yield
      printed = yield* printing(inner, large)
    } else printed = printJson(inner)
    texts.push(typeof key === "number" ? printed : `${printJson(key)}:${printed}`)
  }
  yield
  if (texts.length > 0) pieces.push(texts.join(","))
  return keys === undefined ? `[${pieces.join(",")}]` : `{${pieces.join(",")}}`
}

function isLarge(value: Json, large: Large): boolean {
  return valuesIn(value, valuesAtOnce, large) >= valuesAtOnce
}

/** The number of values in it, itself included, counted up to this many. */
function valuesIn(value: Json | undefined, most: number, large: Large): number {
  if (typeof value !== "object" || value === null) return 1
  if (large.has(value)) return valuesAtOnce
  const keys = Array.isArray(value) ? undefined : Object.keys(value)
  const values = value as Readonly<Record<string | number, Json | undefined>>
  const length = keys?.length ?? (value as Json[]).length
  let count = 1 + length
  for (let index = 0; index < length && count < most; index++) {
    const inner = values[keys?.[index] ?? index]
    if (typeof inner === "object") count += valuesIn(inner, most - count, large) - 1
  }
  if (count >= valuesAtOnce) large.set(value, keys)
  return count
}
