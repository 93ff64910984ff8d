// Finds the old value of each part of an object, if there is one with the same identity; unchanged parts may remain invalid.
// Source: k8s.io/apiserver/pkg/cel/common/{equality,maplist}.go.

import { isDeepStrictEqual } from "node:util"
import type { Json } from "../../object.ts"
import { isObject, type JsonObject, ownValue } from "../../schema/json-object.ts"

/** At the root their changes are not visible, because both objects have been converted to the same type: they never correspond. */
export const typeFields: ReadonlySet<string> = new Set(["apiVersion", "kind"])

export interface Correlation {
  value: Json
  old: Json
  schema: JsonObject
}

export function fieldCorrelation(at: Correlation | undefined, field: string): Correlation | undefined {
  if (at === undefined || !isObject(at.value) || !isObject(at.old)) return undefined
  const { properties, additionalProperties } = at.schema
  const named = isObject(properties) ? own(properties, field) : undefined
  const schema = isObject(named) ? named : additionalProperties
  const [value, old] = [own(at.value, field), own(at.old, field)]
  return value === undefined || old === undefined || !isObject(schema) ? undefined : { value, old, schema }
}

/** Items of lists of type map correspond by key; those of other lists do not. */
export function itemCorrelation(at: Correlation | undefined, index: number): Correlation | undefined {
  if (at === undefined || !Array.isArray(at.value) || !Array.isArray(at.old)) return undefined
  const value = at.value[index]
  const old = value === undefined ? undefined : oldItem(at.schema, at.old, value)
  const schema = at.schema["items"]
  return value === undefined || old === undefined || !isObject(schema) ? undefined : { value, old, schema }
}

export function oldItem(schema: JsonObject, old: readonly Json[], item: Json): Json | undefined {
  const keys = keysOf(schema)
  if (keys === undefined) return undefined
  const wanted = keyOf(item, keys)
  return wanted === undefined ? undefined : itemsByKey(old, keys).get(wanted)
}

type Keyed = ReadonlyMap<string | undefined, Json>

/** Index of lists for which an item was requested: usually all their items are requested in turn. */
const keyed = new WeakMap<readonly Json[], { keys: readonly string[]; items: Keyed }>()

/** The first item with each key. */
function itemsByKey(list: readonly Json[], keys: readonly string[]): Keyed {
  const known = keyed.get(list)
  if (known !== undefined && known.keys === keys) return known.items
  const items = new Map<string | undefined, Json>()
  for (const item of list) {
    const key = keyOf(item, keys)
    if (!items.has(key)) items.set(key, item)
  }
  keyed.set(list, { keys, items })
  return items
}

function keysOf(schema: JsonObject): readonly string[] | undefined {
  const keys = schema["x-kubernetes-list-map-keys"]
  const isMap = schema["x-kubernetes-list-type"] === "map" && Array.isArray(keys) && keys.length > 0
  return isMap ? (keys as string[]) : undefined
}

function keyOf(item: Json, keys: readonly string[]): string | undefined {
  if (!isObject(item)) return undefined
  const parts = keys.map((key) => own(item, key))
  const isKey = parts.every((part) => part !== undefined && part !== null && typeof part !== "object")
  return isKey ? JSON.stringify(parts) : undefined
}

/** The untouched parts of one object: each is compared once, although what it is in may be asked for, too, and again and again. */
export class UntouchedParts {
  readonly #compared = new Map<object, { readonly old: Json; readonly isUntouched: boolean }>()

  /** Order is ignored in lists of type map; fields unknown to the schema count as changed. */
  has(at: Correlation | undefined): boolean {
    if (at === undefined) return false
    const { value, old } = at
    if (typeof value !== "object" || value === null) return value === old
    const known = this.#compared.get(value)
    if (known !== undefined && known.old === old) return known.isUntouched
    const isUntouched = this.#isUntouched(value, at)
    this.#compared.set(value, { old, isUntouched })
    return isUntouched
  }

  #isUntouched(value: object, at: Correlation): boolean {
    const { old, schema } = at
    if (Array.isArray(value)) {
      if (!Array.isArray(old) || value.length !== old.length) return false
      if (keysOf(schema) === undefined) return isDeepStrictEqual(value, old)
      return value.every((_, index) => this.has(itemCorrelation(at, index)))
    }
    if (!isObject(old) || Object.keys(value).length !== Object.keys(old).length) return false
    return Object.keys(value).every((field) => this.has(fieldCorrelation(at, field)))
  }
}

function own(object: JsonObject, key: string): Json | undefined {
  return ownValue(object, key)
}
