// The walk of a comparison (compare.ts): everything that is small, at once.

import { equalJson } from "../equality.ts"
import type { Json } from "../object.ts"
import { isObject, type JsonObject } from "../schema/json-object.ts"
import { Found, hasFound, nothing, stopsAt, type Walk } from "./differences.ts"
import { leaf } from "./field-set.ts"
import { areSameLeaves, isMisfit } from "./leaves.ts"
import { areUnique, elementOf, haveSameKeys, itemsByElement } from "./list-element.ts"
import { entryType, type ListType, type MapType, type MergeType, type Part, partOf } from "./merge-type.ts"
import { fieldElement, type PathElement } from "./path-element.ts"
import { isGiven, notOfItsType, whole, withItems } from "./whole.ts"

const none: MapType["zeros"] = new Map()

/** What is pruned of a merged object is gone, until Go decodes the result. */
export const zerosOf = (walk: Walk, { zeros }: MapType): MapType["zeros"] => (walk.adding.hasZeros ? zeros : none)

export function compareValues(walk: Walk, before: Json, after: Json, type: MergeType): void {
  if (before === after || (walk.hasStopped && walk.known === undefined)) return nothing(walk)
  if (walk.known !== undefined && isKnown(walk, before, after, type)) return
  const [left, right] = [partOf(type, before), partOf(type, after)]
  const both = type.map !== undefined && (type.scalar ?? type.list) !== undefined
  compareAs(walk, right, before, after, type)
  // null fits any of them; values of two different kinds are compared as both.
  if (left === right || !both) return
  const { added, modified, removed } = walk
  compareAs(walk, left, before, after, type)
  walk.added = added ?? walk.added
  walk.modified = modified ?? walk.modified
  walk.removed ??= removed
}

function isKnown(walk: Walk, before: Json, after: Json, type: MergeType): boolean {
  const known = walk.known?.get(after)
  if (known?.before !== before || known.type !== type) return false
  walk.added = known.added
  walk.modified = known.modified
  walk.removed = known.removed
  return true
}

function compareAs(walk: Walk, part: Part, before: Json, after: Json, type: MergeType): void {
  if (part === "map" && type.map !== undefined) compareMaps(walk, before, after, type.map)
  else if (part === "list" && type.list !== undefined) compareLists(walk, before, after, type.list)
  else {
    if (isMisfit(before, type) || isMisfit(after, type)) throw notOfItsType()
    compareLeaves(walk, before, after, type)
  }
}

function compareLeaves(walk: Walk, before: Json, after: Json, type: MergeType): void {
  nothing(walk)
  if (!areSameLeaves(before, after, type, walk.areStructs)) walk.modified = leaf
}

function compareMaps(walk: Walk, before: Json, after: Json, type: MapType): void {
  const left = isObject(before) ? before : undefined
  const right = isObject(after) ? after : undefined
  if (type.atomic || (isBare(left) && isBare(right))) {
    compareLeaves(walk, before, after, { map: type })
    return
  }
  const found = new Found()
  const zeros = zerosOf(walk, type)
  let [count, kept] = [0, 0]
  if (right !== undefined) {
    for (const name in right) {
      if (stopsAt(walk, ++count, 1)) return
      if (compareEntry(walk, found, left, name, right[name], type)) kept++
    }
    for (const [name, zero] of zeros) {
      if (!isGiven(right, name) && compareEntry(walk, found, left, name, zero, type)) kept++
    }
  }
  const size = left === undefined ? 0 : sizeOf(left)
  if (stopsAt(walk, size, 0)) return
  if (left !== undefined && kept < size) {
    for (const name in left) removeEntry(walk, found, left, name, right, zeros, type)
  }
  found.give(walk)
}

/** What is there no longer. */
export function removeEntry(
  walk: Walk,
  found: Found,
  left: JsonObject,
  name: string,
  right: JsonObject | undefined,
  zeros: MapType["zeros"],
  type: MapType,
): void {
  const value = left[name]
  if (value === undefined || (right !== undefined && (isGiven(right, name) || zeros.has(name)))) return
  found.remove(fieldElement(name), whole(walk.removing, value, entryType(type, name)))
}

/** Returns whether the entry existed before. */
export function compareEntry(
  walk: Walk,
  found: Found,
  left: JsonObject | undefined,
  name: string,
  value: Json | undefined,
  type: MapType,
): boolean {
  if (value === undefined) return false
  const isKept = left !== undefined && isGiven(left, name)
  const present = left === undefined ? undefined : isKept ? left[name] : type.zeros.get(name)
  if (present === value) return isKept
  const named = type.named(name)
  const entry = named?.type ?? entryType(type, name)
  if (present === undefined) found.add(named?.element ?? fieldElement(name), whole(walk.adding, value, entry))
  else {
    compareValues(walk, present, value, entry)
    found.take(fieldElement, name, walk)
  }
  return isKept
}

function sizeOf(map: JsonObject): number {
  let size = 0
  for (const _ in map) size++
  return size
}

function isBare(value: JsonObject | undefined): boolean {
  for (const name in value) if (value[name] !== undefined) return false
  return true
}

function compareLists(walk: Walk, before: Json, after: Json, type: ListType): void {
  const left = Array.isArray(before) ? before : []
  const right = Array.isArray(after) ? after : []
  if (type.atomic || left.length + right.length === 0) compareLeaves(walk, before, after, { list: type })
  else if (!stopsAt(walk, Math.max(left.length, right.length), right.length)) compareSmallLists(walk, left, right, type)
}

function compareSmallLists(walk: Walk, left: readonly Json[], right: readonly Json[], type: ListType): void {
  if (haveSameKeys(type, left, right) && compareInOrder(walk, left, right, type)) return
  nothing(walk)
  if (left.length === 0) walk.added = withItems(walk.adding, {}, right, type)
  else if (right.length === 0) walk.removed = withItems(walk.removing, {}, left, type)
  else compareAllItems(walk, left, right, type)
}

/** Path elements are needed only where items differ. Returns false if they do and repeat. */
function compareInOrder(walk: Walk, left: readonly Json[], right: readonly Json[], type: ListType): boolean {
  const found = new Found()
  let differ = false
  for (let index = 0; index < left.length; index++) {
    const [before, after] = [left[index] ?? null, right[index] ?? null]
    compareValues(walk, before, after, type.items)
    if (!hasFound(walk)) continue
    if (!differ && !areUnique(type, right)) return false
    differ = true
    found.take(same, elementOf(type, after), walk)
  }
  found.give(walk)
  return true
}

function compareAllItems(walk: Walk, left: readonly Json[], right: readonly Json[], type: ListType): void {
  const before = itemsByElement(type, left)
  const after = itemsByElement(type, right)
  const found = new Found()
  for (const element of new Set([...before.keys(), ...after.keys()]))
    compareItems(walk, found, element, before.get(element) ?? [], after.get(element) ?? [], type)
  found.give(walk)
}

/** Those of one path element. */
export function compareItems(
  walk: Walk,
  found: Found,
  element: PathElement,
  olds: readonly Json[],
  news: readonly Json[],
  type: ListType,
): void {
  const [[old], [fresh]] = [olds, news]
  if (olds.length <= 1 && news.length <= 1) {
    if (old === undefined) found.add(element, whole(walk.adding, fresh ?? null, type.items))
    else if (fresh === undefined) found.remove(element, whole(walk.removing, old, type.items))
    else {
      compareValues(walk, old, fresh, type.items)
      found.take(same, element, walk)
    }
  } else if (olds.length > 1 && news.length > 1) {
    // Items with the same key are treated as one value.
    if (!equalJson(olds, news)) found.modify(element, leaf)
  } else if (olds.length > 1) {
    if (fresh !== undefined) found.add(element, whole(walk.adding, fresh, type.items))
    found.remove(element, leaf)
  } else {
    if (old !== undefined) found.remove(element, whole(walk.removing, old, type.items))
    found.add(element, leaf)
  }
}

export const same = (element: PathElement): PathElement => element
