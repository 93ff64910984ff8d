// The lists and maps of two states of an object that are too large to be compared in one step (compare.ts).

import type { Json } from "../object.ts"
import { isObject, type JsonObject, ownValue } from "../schema/json-object.ts"
import { mostAtOnce } from "../steps.ts"
import { haveSameKeys } from "./list-element.ts"
import { entryType, type ListType, type MapType, type MergeType } from "./merge-type.ts"

/** The two states of one list, or of one map. */
export interface LargePart {
  before: Json[] | JsonObject
  after: Json[] | JsonObject
  type: MergeType
}

/** Those that both states have at the same place, with items in the same order. Inner ones come before those that they are in. */
export function largeParts(before: Json, after: Json, type: MergeType): LargePart[] {
  const found: LargePart[] = []
  collect(before, after, type, found)
  return found
}

function collect(before: Json | undefined, after: Json | undefined, type: MergeType, found: LargePart[]): void {
  if (before === after) return
  const { list, map } = type
  if (Array.isArray(before) && Array.isArray(after)) {
    if (list?.atomic === false && inLists(before, after, list, found)) found.push({ before, after, type })
  } else if (isObject(before) && isObject(after)) {
    if (map?.atomic === false && inMaps(before, after, map, found)) found.push({ before, after, type })
  }
}

/** Returns whether one of them is large. */
function inLists(before: readonly Json[], after: readonly Json[], type: ListType, found: LargePart[]): boolean {
  // Of items in another order it is not known which are compared.
  if (haveSameKeys(type, before, after))
    for (let index = 0; index < after.length; index++) collect(before[index], after[index], type.items, found)
  return Math.max(before.length, after.length) > mostAtOnce
}

/** The same. */
function inMaps(before: JsonObject, after: JsonObject, type: MapType, found: LargePart[]): boolean {
  let [left, right] = [0, 0]
  for (const _ in before) left++
  for (const name in after) {
    right++
    const value = after[name]
    if (typeof value === "object") collect(ownValue(before, name), value, entryType(type, name), found)
  }
  return Math.max(left, right) > mostAtOnce
}
