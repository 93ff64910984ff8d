// The order in which Go prints the fields of an object: those of a struct as it declares them, the keys of a map sorted.

import type { Json } from "../object.ts"
import { isObject, ownValue, sortedEntries, sortedKeys } from "./json-object.ts"
import type { Schema } from "./schema.ts"

/** Returns a copy without unknown fields. Custom resources are maps; raw values are printed as they are. */
export function inOrderOfFields(schema: Schema, value: Json): Json {
  const { type, items, fields, custom } = schema
  if (Array.isArray(value)) return items === undefined ? value : value.map((item) => inOrderOfFields(items, item))
  if (!isObject(value)) return value
  if (custom === true) return sortedKeys(value)
  if (type === "map" && items !== undefined)
    return Object.fromEntries(sortedEntries(value).map(([key, inner]) => [key, inOrderOfFields(items, inner)]))
  if (fields === undefined) return value
  const entries = Object.entries(fields).flatMap(([name, field]): [string, Json][] => {
    const inner = ownValue(value, name)
    return inner === undefined ? [] : [[name, inOrderOfFields(field.schema, inner)]]
  })
  return Object.fromEntries(entries)
}
