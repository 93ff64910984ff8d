// The path element of a list item. Source: sigs.k8s.io/structured-merge-diff/v6/typed/helpers.go.

import type { Json } from "../object.ts"
import { isObject } from "../schema/json-object.ts"
import { compareText } from "../go/text-order.ts"
import { atOnce, mostAtOnce, type Steps } from "../steps.ts"
import type { ListType } from "./merge-type.ts"
import { keyElement, type PathElement, valueElement } from "./path-element.ts"

/** A value does not fit its type, so its managers cannot be determined. */
export class NotOfItsType extends Error {
  override readonly name: string = "NotOfItsType"
}

/** The item has no path element of its own; the message is upstream's. */
export class ListItemError extends NotOfItsType {
  override readonly name = "ListItemError"
}

export function elementOf(list: ListType, item: Json): PathElement {
  return list.keys.length === 0 ? setElement(item) : mapElement(list, item)
}

function mapElement(list: ListType, item: Json): PathElement {
  if (item === null) throw new ListItemError("associative list with keys may not have a null element")
  if (!isObject(item)) throw new ListItemError("associative list with keys may not have non-map elements")
  const found: [string, Json][] = []
  for (const key of list.keys) {
    const value = Object.hasOwn(item, key) ? item[key] : list.items.map?.defaultOf(key)
    if (value !== undefined) found.push([key, value])
  }
  if (found.length === 0) {
    const keys = list.keys.map((key) => JSON.stringify(key)).join(" ")
    throw new ListItemError(
      `associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`,
    )
  }
  if (found.length > 1) found.sort(([a], [b]) => compareText(a, b))
  return keyElement(found)
}

function setElement(item: Json): PathElement {
  if (Array.isArray(item)) throw new ListItemError("not supported: associative list with lists as elements")
  if (isObject(item)) throw new ListItemError("associative list without keys has an element that's a map type")
  if (item === null) throw new ListItemError("associative list without keys has an element that's an explicit null")
  return valueElement(item)
}

/** Items by path element, in order of first occurrence; several if keys are not unique. */
export function itemsByElement(list: ListType, items: readonly Json[]): Map<PathElement, Json[]> {
  return atOnce(gatheringItems(list, items))
}

/** The same in steps. */
export function* gatheringItems(list: ListType, items: readonly Json[]): Steps<Map<PathElement, Json[]>> {
  const found = new Map<PathElement, Json[]>()
  for (let index = 0; index < items.length; index++) {
    if (index % mostAtOnce === mostAtOnce - 1) yield
    const item = items[index] ?? null
    const element = elementAt(list, items, index)
    const present = found.get(element)
    if (present === undefined) found.set(element, [item])
    else present.push(item)
  }
  return found
}

/** The usual case of two states of a list: the same items in the same order. */
export function haveSameKeys({ keys }: ListType, left: readonly Json[], right: readonly Json[]): boolean {
  if (left.length !== right.length) return false
  for (let index = 0; index < left.length; index++) {
    const [before, after] = [left[index] ?? null, right[index] ?? null]
    if (before === after && !isObject(before)) continue
    if (!isObject(before) || !isObject(after)) return false
    for (const key of keys) if (before[key] !== after[key]) return false
  }
  return true
}

/** Whether no two items have the same path element; false also for items without one. */
export function areUnique(list: ListType, items: readonly Json[]): boolean {
  const [key, another] = list.keys
  if (key === undefined || another !== undefined) return itemsByElement(list, items).size === items.length
  const seen = new Set<Json>()
  for (const item of items) {
    const value = isObject(item) ? item[key] : undefined
    if (value === undefined || typeof value === "object") return false
    seen.add(value)
  }
  return seen.size === items.length
}

/** Both have the same fields, and scalars only, so that they have the same field set. */
export function isAlike(item: Json, other: Json): boolean {
  if (!isObject(item) || !isObject(other)) return false
  let more = 0
  for (const name in item) {
    if (!isScalar(item[name]) || !isScalar(other[name])) return false
    more++
  }
  for (const _ in other) more--
  return more === 0
}

const isScalar = (value: Json | undefined): boolean => value !== undefined && typeof value !== "object"

function elementAt(list: ListType, items: readonly Json[], index: number): PathElement {
  try {
    return elementOf(list, items[index] ?? null)
  } catch (error) {
    if (!(error instanceof ListItemError)) throw error
    throw new ListItemError(`element ${index}: ${error.message}`, { cause: error })
  }
}
