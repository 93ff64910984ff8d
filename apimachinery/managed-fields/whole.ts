// The field set of a value that was added or removed as a whole: its place and everything below it.

import type { Json } from "../object.ts"
import type { JsonObject } from "../schema/json-object.ts"
import { mostAtOnce, type Steps } from "../steps.ts"
import { sortingTexts, sortTexts } from "../go/text-order.ts"
import { type Draft, type FieldSet, leaf } from "./field-set.ts"
import { inOrder } from "./in-order.ts"
import { elementOf, gatheringItems, isAlike, itemsByElement, NotOfItsType } from "./list-element.ts"
import { entryType, type ListType, type MapType, type MergeType } from "./merge-type.ts"
import { fieldElement, type PathElement, sortingElements } from "./path-element.ts"

export interface Building {
  /** Construction of sets of large maps and lists, which the caller carries out at the end. */
  readonly unfinished: Steps<void>[]
  /** The value comes from a Go struct, which contains fields that Go prints even if they are not set. */
  readonly hasZeros: boolean
}

export function whole(building: Building, value: Json, type: MergeType): FieldSet {
  if (typeof value !== "object" || value === null) return leaf
  if (Array.isArray(value)) {
    const { list } = type
    if (list === undefined) throw notOfItsType()
    return list.atomic || value.length === 0 ? leaf : wholeList(building, value, list)
  }
  const { map } = type
  if (map === undefined) throw notOfItsType()
  return map.atomic ? leaf : wholeMap(building, value, map)
}

function wholeMap(building: Building, map: JsonObject, type: MapType): FieldSet {
  const names = Object.keys(map)
  if (building.hasZeros) for (const name of type.zeros.keys()) if (!Object.hasOwn(map, name)) names.push(name)
  if (names.length > mostAtOnce) {
    const set: Draft = { ".": leaf }
    building.unfinished.push(filling(building, set, names, map, type))
    return set
  }
  if (names.length > 1) sortTexts(names)
  let set: Draft | undefined
  for (const name of names) {
    const value = isGiven(map, name) ? map[name] : type.zeros.get(name)
    if (value !== undefined) putWhole(building, (set ??= { ".": leaf }), name, value, type)
  }
  return set ?? leaf
}

function* filling(building: Building, set: Draft, names: string[], map: JsonObject, type: MapType): Steps<void> {
  yield* sortingTexts(names)
  for (const [index, name] of names.entries()) {
    if (index % mostAtOnce === 0) yield
    const value = isGiven(map, name) ? map[name] : type.zeros.get(name)
    if (value !== undefined) putWhole(building, set, name, value, type)
  }
}

function putWhole(building: Building, set: Draft, name: string, value: Json, type: MapType): void {
  const named = type.named(name)
  set[named?.element ?? fieldElement(name)] =
    typeof value === "object" ? whole(building, value, named?.type ?? entryType(type, name)) : leaf
}

function wholeList(building: Building, list: readonly Json[], type: ListType): FieldSet {
  const [only] = list
  if (list.length === 1 && only !== undefined)
    return { ".": leaf, [elementOf(type, only)]: whole(building, only, type.items) }
  return withItems(building, { ".": leaf }, list, type)
}

/** Adds the items of a list to a set that has none. */
export function withItems(building: Building, set: Draft, list: readonly Json[], type: ListType): FieldSet {
  const putItems = placing(building, set, type)
  if (list.length > mostAtOnce) {
    building.unfinished.push(fillingWithItems(set, list, type, putItems))
    return set
  }
  for (const [element, items] of itemsByElement(type, list)) putItems(element, items)
  return inOrder(set)
}

function* fillingWithItems(set: Draft, list: readonly Json[], type: ListType, putItems: PutItems): Steps<void> {
  const found = yield* gatheringItems(type, list)
  const elements = [...found.keys()]
  yield* sortingElements(elements)
  for (const [index, element] of elements.entries()) {
    if (index % mostAtOnce === 0) yield
    putItems(element, found.get(element) ?? [])
  }
}

/** `items`: those of one path element. */
type PutItems = (element: PathElement, items: readonly Json[]) => void

/** Consecutive items with the same scalar fields share their sets. */
function placing(building: Building, set: Draft, { items: type }: ListType): PutItems {
  let last: { item: Json; set: FieldSet } | undefined
  return (element, items) => {
    const [item = null] = items
    if (items.length > 1) set[element] = leaf
    else if (last !== undefined && isAlike(item, last.item)) set[element] = last.set
    else last = { item, set: (set[element] = whole(building, item, type)) }
  }
}

export function notOfItsType(): NotOfItsType {
  return new NotOfItsType("expected a scalar, got a list or a map")
}

export function isGiven(map: JsonObject, name: string): boolean {
  return Object.hasOwn(map, name) && map[name] !== undefined
}
