// Finds duplicate items in a custom resource's lists. Upstream reports them after all other errors of the schema.

import { duplicate, type FieldError, type FieldPath, invalidValue } from "../field-errors.ts"
import { shownDouble } from "../go/print.ts"
import type { Json } from "../object.ts"
import { isGivenFraction } from "./decode/given.ts"
import { isObject, sortedKeys } from "./json-object.ts"
import { hasUniqueItems, type Schema, schemaOfEntry, schemaOfItems } from "./schema.ts"

/**
 * x-kubernetes-list-type: items of sets, and keys of the items of maps, must be unique. Source: pkg/apiserver/schema/listtype in
 * apiextensions-apiserver.
 */
export function validateLists(schema: Schema, value: Json, path: FieldPath): FieldError[] {
  if (typeof value !== "object" || value === null || !hasUniqueItems(schema)) return []
  if (Array.isArray(value)) {
    const errors = uniqueErrors(schema, value, path)
    const items = schemaOfItems(schema)
    if (items === undefined || !hasUniqueItems(items)) return errors
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
  if (schema.listType === "set") {
    return duplicates(list.map(stableText), path, {
      isDouble: (index) => isGivenFraction(list, index),
      shown: (index) => list[index],
    })
  }
  if (schema.listType !== "map") return []
  const odd = list.findIndex((item) => item !== null && !isObject(item))
  if (odd >= 0) {
    const shown = isGivenFraction(list, odd) ? shownDouble(Number(list[odd])) : list[odd]
    return [invalidValue(path.index(odd), shown, "must be an object for an array of list-type map")]
  }
  const { listMapKeys = [] } = schema
  const [only = ""] = listMapKeys
  const keys = [...new Set(listMapKeys)].sort()
  return duplicates(
    list.map((item) => keysText(item, keys)),
    path,
    {
      // Several keys are compared by their text, in which a double is like an integer.
      isDouble: (index) => listMapKeys.length === 1 && isObject(list[index]) && isGivenFraction(list[index], only),
      shown: (index) => keysOf(list[index], keys),
    },
  )
}

interface Items {
  isDouble: (index: number) => boolean
  /** What tells it from others. */
  shown: (index: number) => Json | undefined
}

/**
 * Like upstream, reports only the second of several equal items. A whole number that was given as a double equals no integer. `texts`:
 * those of equal items are equal.
 */
function duplicates(texts: readonly string[], path: FieldPath, { isDouble, shown }: Items): FieldError[] {
  const times = new Map<string, number>()
  return texts.flatMap((of, index) => {
    const text = of + (isDouble(index) ? " double" : "")
    const before = times.get(text) ?? 0
    times.set(text, before + 1)
    if (before !== 1) return []
    const identity = shown(index) ?? null
    const isShownDouble = typeof identity === "number" && isDouble(index)
    return [duplicate(path.index(index), isShownDouble ? shownDouble(identity) : sortedKeys(identity))]
  })
}

/** The key values, sorted by name as they are reported. A null item has none. */
function keysOf(item: Json | undefined, keys: readonly string[]): Json {
  if (!isObject(item)) return {}
  const given = keys.filter((key) => Object.hasOwn(item, key))
  return Object.fromEntries(given.map((key) => [key, item[key] as Json]))
}

/** {@link keysOf} as text: there may be hundreds in each of thousands of items. */
function keysText(item: Json | undefined, keys: readonly string[]): string {
  let text = ""
  if (!isObject(item)) return text
  for (const [index, key] of keys.entries())
    if (Object.hasOwn(item, key)) text += `${index}:${stableText(item[key] as Json)},`
  return text
}

function stableText(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  return JSON.stringify(value, (_, inner: Json) =>
    isObject(inner) && !JSON.isRawJSON(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
