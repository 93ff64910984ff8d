// Values that are compared as a whole: scalars, and lists and maps that are atomic. Source of the rules:
// sigs.k8s.io/structured-merge-diff/v6/typed/compare.go.

import { equalJson } from "../equality.ts"
import type { Json } from "../object.ts"
import { hasGivenEmpty } from "../schema/decode/given.ts"
import { isObject } from "../schema/json-object.ts"
import { entryType, type MergeType } from "./merge-type.ts"
import { isGiven } from "./whole.ts"

/** `areStructs`: both come from Go structs, which contain fields that Go prints even if they are not set. */
export function areSameLeaves(before: Json, after: Json, type: MergeType, areStructs: boolean): boolean {
  if (!areStructs) return equalJson(before, after)
  return (equalJson(before, after) || isSameInGo(before, after, type)) && !hasEmptyInList(after)
}

/** A list or a map where the type has none. */
export function isMisfit(value: Json, type: MergeType): boolean {
  if (typeof value !== "object" || value === null) return false
  return (Array.isArray(value) ? type.list : type.map) === undefined
}

/** Equal except for fields that Go prints even if they are not set. */
function isSameInGo(before: Json, after: Json, { list, map }: MergeType): boolean {
  if (Array.isArray(before) && Array.isArray(after) && list !== undefined) {
    const { items } = list
    return (
      before.length === after.length && before.every((item, index) => isSameInGo(item, after[index] ?? null, items))
    )
  }
  if (!isObject(before) || !isObject(after) || map === undefined) return equalJson(before, after)
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const zero = map.zeros.get(name)
    const [was, is] = [isGiven(before, name) ? before[name] : zero, isGiven(after, name) ? after[name] : zero]
    if (was === undefined || is === undefined || !isSameInGo(was, is, entryType(map, name))) return false
  }
  return true
}

/** Upstream compares atomic lists in memory, where an empty list or map differs from an absent one. */
function hasEmptyInList(value: Json): boolean {
  if (typeof value !== "object" || value === null) return false
  return Array.isArray(value) ? value.some(hasGivenEmpty) : Object.values(value).some(hasEmptyInList)
}
