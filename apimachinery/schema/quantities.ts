// Equal quantities in different texts ("1Gi", "1073741824"). Upstream compares the amounts when it looks for changes, and stores the
// text that was given last.

import { equalIgnoringNulls } from "../equality.ts"
import type { GroupVersionKind, Json } from "../object.ts"
import { compareQuantities, parseQuantity } from "../quantity.ts"
import { schemaOf } from "./facts.ts"
import { ownValue, setOwn } from "./json-object.ts"
import { type Schema, schemaOfEntry, schemaOfItems } from "./schema.ts"

/**
 * `current` with the texts that `value` has for the same amounts, to compare the two; `current` itself if none differs. Lists are
 * compared by place.
 */
export function withTextsOf<T extends object>(value: T, current: T, schema: Schema): T {
  return alike(schema, value as Json, current as Json) as T
}

/** Whether two objects of a built-in kind, or the parts that are given, differ in nothing but the texts of amounts. */
export function equalByAmounts<T extends object>(value: T, current: T, kind: GroupVersionKind): boolean {
  if (equalIgnoringNulls(value, current)) return true
  const schema = schemaOf(kind)
  if (schema === undefined) throw new Error(`the schema of ${kind.kind} is not known`)
  return equalIgnoringNulls(value, withTextsOf(value, current, schema))
}

function alike(schema: Schema, value: Json | undefined, current: Json): Json {
  if (value === undefined || value === current) return current
  if (schema.format === "quantity") return isSameAmount(value, current) ? value : current
  if (typeof value !== "object" || typeof current !== "object" || value === null || current === null) return current
  if (Array.isArray(current)) {
    const items = schemaOfItems(schema)
    if (items === undefined || !holdsQuantities(items) || !Array.isArray(value)) return current
    const list = current.map((item, index) => alike(items, value[index], item))
    return list.some((item, index) => item !== current[index]) ? list : current
  }
  if (Array.isArray(value)) return current
  let copy: Record<string, Json> | undefined
  for (const [name, part] of holdersIn(schema, current)) {
    const before = ownValue(current, name)
    if (before === undefined) continue
    const after = alike(part, ownValue(value, name), before)
    if (after !== before) setOwn((copy ??= { ...current }), name, after)
  }
  return copy ?? current
}

/** Both have been decoded, so they are valid. */
function isSameAmount(value: Json, current: Json): boolean {
  if (typeof value !== "string" || typeof current !== "string") return false
  return compareQuantities(parseQuantity(value), parseQuantity(current)) === 0
}

const holders = new WeakMap<Schema, readonly [string, Schema][]>()

/** The fields, or the map's entries, that are quantities or hold some. */
function holdersIn(schema: Schema, object: object): readonly [string, Schema][] {
  if (schema.type === "map") {
    const { items } = schema
    if (items === undefined || !holdsQuantities(items)) return []
    return Object.keys(object).map((name) => [name, items])
  }
  let found = holders.get(schema)
  if (found === undefined) {
    found = Object.keys(schema.fields ?? {}).flatMap((name): [string, Schema][] => {
      const part = schemaOfEntry(schema, name)
      return typeof part === "object" && holdsQuantities(part) ? [[name, part]] : []
    })
    holders.set(schema, found)
  }
  return found
}

const holding = new WeakMap<Schema, boolean>()

function holdsQuantities(schema: Schema): boolean {
  let answer = holding.get(schema)
  if (answer === undefined) {
    holding.set(schema, false) // for a type that contains itself, while its other fields are looked at
    answer =
      schema.format === "quantity" ||
      (schema.items !== undefined && holdsQuantities(schema.items)) ||
      Object.values(schema.fields ?? {}).some((field) => holdsQuantities(field.schema))
    holding.set(schema, answer)
  }
  return answer
}
