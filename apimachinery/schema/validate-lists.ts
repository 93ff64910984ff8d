// Which items of a custom resource's lists are there twice. Upstream tells of them after all else that the schema says.

import { duplicate, type FieldError, type FieldPath } from "../field-errors.ts"
import type { Json } from "../object.ts"
import { isObject } from "./json-object.ts"
import { type Schema, schemaOfEntry, schemaOfItems } from "./schema.ts"

/** x-kubernetes-list-type: items of a set, and keys of the items of a map, are there once. */
export function validateLists(schema: Schema, value: Json, path: FieldPath): FieldError[] {
  if (typeof value !== "object" || value === null) return []
  if (Array.isArray(value)) {
    const errors = uniqueErrors(schema, value, path)
    const items = schemaOfItems(schema)
    if (items === undefined) return errors
    return [...errors, ...value.flatMap((item, index) => validateLists(items, item, path.index(index)))]
  }
  return Object.entries(value).flatMap(([name, given]) => {
    const inner = schemaOfEntry(schema, name)
    if (inner === undefined || inner === "none") return []
    const isNamed = schema.fields !== undefined && Object.hasOwn(schema.fields, name)
    return validateLists(inner, given, isNamed ? path.child(name) : path.key(name))
  })
}

function uniqueErrors(schema: Schema, list: readonly Json[], path: FieldPath): FieldError[] {
  if (schema.listType !== "set" && schema.listType !== "map") return []
  const seen = new Set<string>()
  const errors: FieldError[] = []
  for (const [index, item] of list.entries()) {
    const identity = schema.listType === "set" ? item : keysOf(item, schema.listMapKeys ?? [])
    const text = stableText(identity)
    if (seen.has(text)) errors.push(duplicate(path.index(index), identity))
    seen.add(text)
  }
  return errors
}

function keysOf(item: Json, keys: readonly string[]): Json {
  if (!isObject(item)) return null
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(item, key)).map((key) => [key, item[key] as Json]))
}

function stableText(value: Json): string {
  return JSON.stringify(value, (_, inner: Json) =>
    isObject(inner) && !JSON.isRawJSON(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
