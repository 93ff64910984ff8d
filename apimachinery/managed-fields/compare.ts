// Compares two states of an object and returns the differences as field sets. Both are walked once, in parallel; where they are equal,
// nothing is allocated. Source of the rules: sigs.k8s.io/structured-merge-diff/v6/typed/compare.go.

import type { Json } from "../object.ts"
import { isObject, type JsonObject } from "../schema/json-object.ts"
import { atOnce, mostAtOnce, type Steps } from "../steps.ts"
import { compareEntry, compareItems, compareValues, removeEntry, same, zerosOf } from "./compare-values.ts"
import { Found, hasFound, type Known, nothing, type Walk } from "./differences.ts"
import { type FieldSet, leaf } from "./field-set.ts"
import { type LargePart, largeParts } from "./large-parts.ts"
import { areUnique, elementOf, gatheringItems, haveSameKeys } from "./list-element.ts"
import type { ListType, MapType, MergeType } from "./merge-type.ts"
import { isGiven, withItems } from "./whole.ts"

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
    visited: 0,
    hasStopped: false,
  }
  compareValues(walk, before, after, type)
  if (walk.hasStopped) {
    unfinished.length = 0
    yield* comparingParts(walk, largeParts(before, after, type))
    compareValues(walk, before, after, type)
  }
  for (const filling of unfinished) yield* filling
  return { added: walk.added ?? leaf, modified: walk.modified ?? leaf, removed: walk.removed ?? leaf }
}

/** After it, the walk knows them. */
function* comparingParts(walk: Walk, parts: readonly LargePart[]): Steps<void> {
  const known = (walk.known = new Map<Json, Known>())
  for (const part of parts) {
    yield* comparingPart(walk, part)
    const { added, modified, removed } = walk
    known.set(part.after, { ...part, added, modified, removed })
  }
}

function* comparingPart(walk: Walk, { before, after, type: { list, map } }: LargePart): Steps<void> {
  if (list !== undefined && Array.isArray(before) && Array.isArray(after))
    yield* comparingLists(walk, before, after, list)
  else if (map !== undefined && isObject(before) && isObject(after)) yield* comparingMaps(walk, before, after, map)
}

function* comparingMaps(walk: Walk, left: JsonObject, right: JsonObject, type: MapType): Steps<void> {
  const found = new Found()
  const zeros = zerosOf(walk, type)
  let count = 0
  for (const name in right) {
    if (++count % mostAtOnce === 0) yield
    compareEntry(walk, found, left, name, right[name], type)
  }
  for (const [name, zero] of zeros) if (!isGiven(right, name)) compareEntry(walk, found, left, name, zero, type)
  for (const name in left) {
    if (++count % mostAtOnce === 0) yield
    removeEntry(walk, found, left, name, right, zeros, type)
  }
  yield* found.giving(walk)
}

function* comparingLists(walk: Walk, left: readonly Json[], right: readonly Json[], type: ListType): Steps<void> {
  if (haveSameKeys(type, left, right) && (yield* comparingInOrder(walk, left, right, type))) return
  nothing(walk)
  if (left.length === 0) walk.added = withItems(walk.adding, {}, right, type)
  else if (right.length === 0) walk.removed = withItems(walk.removing, {}, left, type)
  else yield* comparingAllItems(walk, left, right, type)
}

function* comparingInOrder(walk: Walk, left: readonly Json[], right: readonly Json[], type: ListType): Steps<boolean> {
  const found = new Found()
  let differ = false
  for (let index = 0; index < left.length; index++) {
    if (index % mostAtOnce === mostAtOnce - 1) yield
    const [before, after] = [left[index] ?? null, right[index] ?? null]
    compareValues(walk, before, after, type.items)
    if (!hasFound(walk)) continue
    if (!differ && !areUnique(type, right)) return false
    differ = true
    found.take(same, elementOf(type, after), walk)
  }
  yield* found.giving(walk)
  return true
}

function* comparingAllItems(walk: Walk, left: readonly Json[], right: readonly Json[], type: ListType): Steps<void> {
  const before = yield* gatheringItems(type, left)
  const after = yield* gatheringItems(type, right)
  const found = new Found()
  let count = 0
  for (const element of new Set([...before.keys(), ...after.keys()])) {
    if (++count % mostAtOnce === 0) yield
    compareItems(walk, found, element, before.get(element) ?? [], after.get(element) ?? [], type)
  }
  yield* found.giving(walk)
}
