// Merges an applied configuration into an object: its values replace those of the object or are added to them, and nothing is removed.
// Also removes a set of fields from an object. Results share unchanged parts with the input. Source:
// sigs.k8s.io/structured-merge-diff/v6/typed (merge.go, remove.go).

import type { Json } from "../object.ts"
import { isEmptyObject, isObject, type JsonObject, ownValue, setOwn } from "../schema/json-object.ts"
import { TypeErrors } from "./configuration.ts"
import { below, type FieldSet, hasElement, isEmpty } from "./field-set.ts"
import { areUnique, elementOf, haveSameKeys, ListItemError } from "./list-element.ts"
import { entryType, type ListType, type MapType, type MergeType, partOf } from "./merge-type.ts"
import { fieldElement, type PathElement, printElement } from "./path-element.ts"

/** undefined means absent; at least one of the two must be present. Throws TypeErrors. */
export function merge(live: Json | undefined, applied: Json | undefined, type: MergeType): Json | undefined {
  if (applied === undefined) return live
  const part = partOf(type, applied)
  if (part === "map" && type.map !== undefined && !type.map.atomic) return mergeMaps(live, applied, type.map)
  if (part === "list" && type.list !== undefined && !type.list.atomic) return mergeLists(live, applied, type.list)
  return applied
}

function mergeMaps(live: Json | undefined, applied: Json, type: MapType): Json | undefined {
  const left = isObject(live) ? live : {}
  const right = isObject(applied) ? applied : {}
  const names = Object.keys(right)
  if (names.length === 0) return isEmptyObject(left) ? applied : left
  const result: JsonObject = { ...left }
  for (const name of names) {
    const present = ownValue(left, name)
    const merged = merge(present, right[name], entryType(type, name))
    if (merged !== undefined) setOwn(result, name, merged)
  }
  return result
}

function mergeLists(live: Json | undefined, applied: Json, type: ListType): Json | undefined {
  const left = Array.isArray(live) ? live : []
  const right = Array.isArray(applied) ? applied : []
  if (right.length === 0) return left.length === 0 ? applied : left
  if (haveSameKeys(type, left, right) && areUnique(type, right)) {
    return right.map((item, index) => merge(left[index], item, type.items) ?? null)
  }
  return new ListMerge(type, left, right).result()
}

/**
 * Applied items keep their order; items that only the object has keep their positions relative to the shared ones. Duplicate
 * items of the object are all replaced by the applied one.
 */
class ListMerge {
  readonly #type: ListType
  readonly #left: readonly Json[]
  readonly #leftElements: readonly PathElement[]
  readonly #rightElements: readonly PathElement[]
  readonly #leftItems = new Map<PathElement, Json>()
  readonly #rightItems = new Map<PathElement, Json>()
  readonly #merged = new Set<PathElement>()
  readonly #out: Json[] = []
  /** Elements of both lists, in the applied order; `#next` is the next one to be placed. */
  readonly #shared: readonly PathElement[]
  #next = 0

  constructor(type: ListType, left: readonly Json[], right: readonly Json[]) {
    this.#type = type
    this.#left = left
    this.#rightElements = right.map((item, index) => this.#elementAt(item, index))
    this.#leftElements = left.map((item, index) => this.#elementAt(item, index))
    for (const [index, element] of this.#rightElements.entries()) {
      if (this.#rightItems.has(element)) {
        throw new TypeErrors([`duplicate entries for key ${printElement(element)}`])
      }
      this.#rightItems.set(element, right[index] ?? null)
    }
    // Duplicate items of the object are not merged with the applied one.
    for (const [index, element] of this.#leftElements.entries()) {
      this.#leftItems.set(element, this.#leftItems.has(element) ? null : (left[index] ?? null))
    }
    this.#shared = this.#rightElements.filter((element) => this.#leftItems.has(element))
  }

  result(): Json[] {
    let [l, r] = [0, 0]
    while (l < this.#leftElements.length || r < this.#rightElements.length) {
      const [left, right] = [this.#leftElements[l], this.#rightElements[r]]
      if (left !== undefined && right !== undefined) {
        if (left === right) {
          this.#take(left)
          this.#next++
          l++
          r++
          continue
        }
        const next = this.#shared[this.#next]
        if (this.#rightItems.has(left) && next !== undefined && next !== left) {
          l++ // shared, placed later
          continue
        }
      }
      if (left !== undefined) {
        if (!this.#rightItems.has(left)) {
          this.#out.push(this.#left[l] ?? null)
          l++
          continue
        }
        if (this.#merged.has(left)) l++
      }
      if (right !== undefined) {
        this.#take(right)
        if (this.#shared[this.#next] === right) this.#next++
        r++
      }
    }
    return this.#out
  }

  #take(element: PathElement): void {
    this.#merged.add(element)
    const merged = merge(this.#leftItems.get(element), this.#rightItems.get(element), this.#type.items)
    if (merged !== undefined) this.#out.push(merged)
  }

  #elementAt(item: Json, index: number): PathElement {
    try {
      return elementOf(this.#type, item)
    } catch (error) {
      if (!(error instanceof ListItemError)) throw error
      throw new TypeErrors([`element ${index}: ${error.message}`])
    }
  }
}

/** A map or list that becomes empty is replaced by null. */
export function removeFields(value: Json, set: FieldSet, type: MergeType): Json {
  const part = partOf(type, value)
  if (part === "map" && type.map !== undefined) return removeFromMap(value, set, type.map)
  if (part === "list" && type.list !== undefined) return removeFromList(value, set, type.list)
  return value
}

function removeFromMap(value: Json, set: FieldSet, type: MapType): Json {
  if (!isObject(value) || type.atomic) return null
  const result: JsonObject = {}
  let left = false
  for (const name of Object.keys(value)) {
    const element = fieldElement(name)
    const item = value[name]
    if (item === undefined || hasElement(set, element)) continue
    const subset = below(set, element)
    setOwn(result, name, isEmpty(subset) ? item : removeFields(item, subset, entryType(type, name)))
    left = true
  }
  return left ? result : null
}

function removeFromList(value: Json, set: FieldSet, type: ListType): Json {
  if (!Array.isArray(value) || type.atomic) return null
  const result: Json[] = []
  for (const item of value) {
    const element = elementOf(type, item)
    if (hasElement(set, element)) continue
    const subset = below(set, element)
    result.push(isEmpty(subset) ? item : removeFields(item, subset, type.items))
  }
  return result.length > 0 ? result : null
}
