// Compares two states of an object and returns the differences as field sets. Both are walked once, in parallel; where they are equal,
// nothing is allocated. Source of the rules: sigs.k8s.io/structured-merge-diff/v6/typed/compare.go.

import { equalJson } from "../equality.ts"
import type { Json } from "../object.ts"
import { hasGivenEmpty } from "../schema/decode/given.ts"
import { isObject, type JsonObject } from "../schema/json-object.ts"
import { atOnce, type Steps } from "../steps.ts"
import { type Draft, type FieldSet, inOrder, leaf } from "./field-set.ts"
import { areUnique, elementOf, haveSameKeys, itemsByElement } from "./list-element.ts"
import { entryType, type ListType, type MapType, type MergeType, type Part, partOf } from "./merge-type.ts"
import { fieldElement, type PathElement } from "./path-element.ts"
import { type Building, isGiven, notOfItsType, whole, withItems } from "./whole.ts"

export interface Comparison {
  added: FieldSet
  modified: FieldSet
  removed: FieldSet
}

/**
 * No field is in more than one of the three sets. `areStructs`: both states come from Go structs, which contain fields that Go prints
 * even if they are not set. `isMerged`: a configuration has been merged into `after`, and what that adds has only the fields that it
 * gives. Throws ListItemError for list items that cannot be distinguished, and NotOfItsType for a list or a map
 * where the type has none.
 */
export function compare(before: Json, after: Json, type: MergeType): Comparison {
  return atOnce(comparing(before, after, type))
}

interface Compared {
  areStructs?: boolean | undefined
  isMerged?: boolean | undefined
}

/** The same, as a generator of steps. */
export function* comparing(before: Json, after: Json, type: MergeType, compared: Compared = {}): Steps<Comparison> {
  const { areStructs = false, isMerged = false } = compared
  const unfinished: Steps<void>[] = []
  const walk: Walk = {
    added: undefined,
    modified: undefined,
    removed: undefined,
    areStructs,
    adding: { unfinished, hasZeros: !isMerged },
    removing: { unfinished, hasZeros: true },
  }
  compareValues(walk, before, after, type)
  for (const filling of unfinished) yield* filling
  return { added: walk.added ?? leaf, modified: walk.modified ?? leaf, removed: walk.removed ?? leaf }
}

/** Result at and below the last visited place; the caller takes it before it visits the next one. */
interface Walk {
  added: FieldSet | undefined
  modified: FieldSet | undefined
  removed: FieldSet | undefined
  readonly areStructs: boolean
  readonly adding: Building
  readonly removing: Building
}

const none: MapType["zeros"] = new Map()

function nothing(walk: Walk): void {
  walk.added = walk.modified = walk.removed = undefined
}

function compareValues(walk: Walk, before: Json, after: Json, type: MergeType): void {
  if (before === after) {
    nothing(walk)
    return
  }
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

function compareAs(walk: Walk, part: Part, before: Json, after: Json, type: MergeType): void {
  if (part === "map" && type.map !== undefined) compareMaps(walk, before, after, type.map)
  else if (part === "list" && type.list !== undefined) compareLists(walk, before, after, type.list)
  else {
    if (isMisfit(before, type) || isMisfit(after, type)) throw notOfItsType()
    compareLeaves(walk, before, after, type)
  }
}

function isMisfit(value: Json, type: MergeType): boolean {
  if (typeof value !== "object" || value === null) return false
  return (Array.isArray(value) ? type.list : type.map) === undefined
}

function compareLeaves(walk: Walk, before: Json, after: Json, type: MergeType): void {
  nothing(walk)
  const isSame = walk.areStructs
    ? (equalJson(before, after) || isSameInGo(before, after, type)) && !hasEmptyInList(after)
    : equalJson(before, after)
  if (!isSame) walk.modified = leaf
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

function compareMaps(walk: Walk, before: Json, after: Json, type: MapType): void {
  const left = isObject(before) ? before : undefined
  const right = isObject(after) ? after : undefined
  if (type.atomic || (isBare(left) && isBare(right))) {
    compareLeaves(walk, before, after, { map: type })
    return
  }
  const found = new Found()
  // What is pruned of a merged object is gone, until Go decodes the result.
  const zeros = walk.adding.hasZeros ? type.zeros : none
  let kept = 0
  if (right !== undefined) {
    for (const name in right) if (compareEntry(walk, found, left, name, right[name], type)) kept++
    for (const [name, zero] of zeros) {
      if (!isGiven(right, name) && compareEntry(walk, found, left, name, zero, type)) kept++
    }
  }
  if (left !== undefined && kept < Object.keys(left).length) {
    for (const name in left) {
      const value = left[name]
      if (value === undefined || (right !== undefined && (isGiven(right, name) || zeros.has(name)))) continue
      found.remove(fieldElement(name), whole(walk.removing, value, entryType(type, name)))
    }
  }
  found.give(walk)
}

/** Returns whether the entry existed before. */
function compareEntry(
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

function isBare(value: JsonObject | undefined): boolean {
  for (const name in value) if (value[name] !== undefined) return false
  return true
}

function compareLists(walk: Walk, before: Json, after: Json, type: ListType): void {
  const left = Array.isArray(before) ? before : []
  const right = Array.isArray(after) ? after : []
  if (type.atomic || left.length + right.length === 0) compareLeaves(walk, before, after, { list: type })
  else if (!haveSameKeys(type, left, right) || !compareInOrder(walk, left, right, type)) {
    compareItems(walk, left, right, type)
  }
}

/** Path elements are needed only where items differ. Returns false if they do and repeat. */
function compareInOrder(walk: Walk, left: readonly Json[], right: readonly Json[], type: ListType): boolean {
  const found = new Found()
  let differ = false
  for (let index = 0; index < left.length; index++) {
    const [before, after] = [left[index] ?? null, right[index] ?? null]
    compareValues(walk, before, after, type.items)
    if (walk.added === undefined && walk.modified === undefined && walk.removed === undefined) continue
    if (!differ && !areUnique(type, right)) return false
    differ = true
    found.take(same, elementOf(type, after), walk)
  }
  found.give(walk)
  return true
}

function compareItems(walk: Walk, left: readonly Json[], right: readonly Json[], type: ListType): void {
  nothing(walk)
  if (left.length === 0) walk.added = withItems(walk.adding, {}, right, type)
  else if (right.length === 0) walk.removed = withItems(walk.removing, {}, left, type)
  else compareAllItems(walk, left, right, type)
}

function compareAllItems(walk: Walk, left: readonly Json[], right: readonly Json[], type: ListType): void {
  const before = itemsByElement(type, left)
  const after = itemsByElement(type, right)
  const found = new Found()
  for (const element of new Set([...before.keys(), ...after.keys()])) {
    const [olds, news] = [before.get(element) ?? [], after.get(element) ?? []]
    const [old, fresh] = [olds[0], news[0]]
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
  found.give(walk)
}

const same = (element: PathElement): PathElement => element

/** Collects the differences below one place. */
class Found {
  #added: Draft | undefined
  #modified: Draft | undefined
  #removed: Draft | undefined

  add(element: PathElement, set: FieldSet): void {
    ;(this.#added ??= {})[element] = set
  }

  modify(element: PathElement, set: FieldSet): void {
    ;(this.#modified ??= {})[element] = set
  }

  remove(element: PathElement, set: FieldSet): void {
    ;(this.#removed ??= {})[element] = set
  }

  /** The path element is created only if there is a difference. */
  take(elementOf: (name: string) => PathElement, name: string, { added, modified, removed }: Walk): void {
    if (added !== undefined) this.add(elementOf(name), added)
    if (modified !== undefined) this.modify(elementOf(name), modified)
    if (removed !== undefined) this.remove(elementOf(name), removed)
  }

  give(walk: Walk): void {
    walk.added = this.#added && inOrder(this.#added)
    walk.modified = this.#modified && inOrder(this.#modified)
    walk.removed = this.#removed && inOrder(this.#removed)
  }
}
