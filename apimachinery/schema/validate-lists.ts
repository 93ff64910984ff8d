// Finds duplicate items in a custom resource's lists. Upstream reports them after all other errors of the schema.

import { duplicate, type FieldError, type FieldPath, invalidValue } from "../field-errors.ts"
import { shownDouble } from "../go/print.ts"
import type { Json } from "../object.ts"
import { isGivenFraction } from "./decode/given.ts"
import { isObject, sortedKeys } from "./json-object.ts"
import { type Schema, schemaOfEntry, schemaOfItems } from "./schema.ts"

/**
 * x-kubernetes-list-type: items of sets, and keys of the items of maps, must be unique. Source: pkg/apiserver/schema/listtype in
 * apiextensions-apiserver.
 */
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
  if (schema.listType === "set") return duplicates(list, path, (index) => isGivenFraction(list, index))
  if (schema.listType !== "map") return []
  const odd = list.findIndex((item) => item !== null && !isObject(item))
  if (odd >= 0) {
    const shown = isGivenFraction(list, odd) ? shownDouble(Number(list[odd])) : list[odd]
    return [invalidValue(path.index(odd), shown, "must be an object for an array of list-type map")]
  }
  const keys = schema.listMapKeys ?? []
  const [only = ""] = keys
  return duplicates(
    list.map((item) => keysOf(item, keys)),
    path,
    // Several keys are compared by their text, in which a double is like an integer.
    (index) => keys.length === 1 && isObject(list[index]) && isGivenFraction(list[index], only),
  )
}

/** Like upstream, reports only the second of several equal items. A whole number that was given as a double equals no integer. */
function duplicates(identities: readonly Json[], path: FieldPath, isDouble: (index: number) => boolean): FieldError[] {
  const times = new Map<string, number>()
  return identities.flatMap((identity, index) => {
    const text = stableText(identity) + (isDouble(index) ? " double" : "")
    const before = times.get(text) ?? 0
    times.set(text, before + 1)
    if (before !== 1) return []
    const isShownDouble = typeof identity === "number" && isDouble(index)
    return [duplicate(path.index(index), isShownDouble ? shownDouble(identity) : sortedKeys(identity))]
  })
}

/** The key values, sorted by name as they are reported. A null item has none. */
function keysOf(item: Json | undefined, keys: readonly string[]): Json {
  if (!isObject(item)) return {}
  const given = keys.filter((key) => Object.hasOwn(item, key)).sort()
  return Object.fromEntries(given.map((key) => [key, item[key] as Json]))
}

function stableText(value: Json): string {
  if (typeof value === "string") return JSON.stringify(value)
  return JSON.stringify(value, (_, inner: Json) =>
    isObject(inner) && !JSON.isRawJSON(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
