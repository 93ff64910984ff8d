// Decoding of large values, in steps: their large parts one after another, all else as value.ts does it.

import type { Json } from "../../object.ts"
import { isObject, type JsonObject, setOwn } from "../json-object.ts"
import { LargeValues, type Walker } from "../large-values.ts"
import type { FieldSchema, Schema } from "../schema.ts"
import type { Steps } from "../../steps.ts"
import { inOrder, putField, writeStructs } from "./fields.ts"
import { decode, decodeEntry, decodeField, decodeItem, keptFault } from "./value.ts"
import type { Walk } from "./walk.ts"

/** decodeWhole() in steps, where the value is large. */
export function* decodingWhole(schema: Schema, value: Json, walk: Walk): Steps<Json> {
  const steps = decoding(schema, value, walk, new LargeValues(isWalked))
  for (;;) {
    const { stackTraceLimit } = Error
    let step: IteratorResult<void, Json>
    try {
      step = steps.next()
    } finally {
      Error.stackTraceLimit = stackTraceLimit
    }
    if (step.done !== true) yield
    else if (walk.fault !== undefined) throw walk.fault
    else return step.value
  }
}

/** As decode(). */
function* decoding(schema: Schema, value: Json, walk: Walk, large: LargeValues): Steps<Json> {
  const fits = schema.type === "list" ? Array.isArray(value) : isObject(value)
  if (!fits || !large.has(schema, value)) return decode(schema, value, walk)
  const depth = walk.path.length
  try {
    const { fields, items } = schema
    if (fields !== undefined) yield* decodingFields(schema, fields, value as JsonObject, walk, large)
    else if (items !== undefined) yield* decodingMembers(schema, items, value as JsonObject | Json[], walk, large)
    return value
  } catch (error) {
    return keptFault(error, schema, value, walk, depth)
  }
}

function isWalked({ type, fields, items }: Schema): boolean {
  return type === "object" ? fields !== undefined : (type === "list" || type === "map") && items !== undefined
}

/** decodeFields() of a large object. */
function* decodingFields(
  schema: Schema,
  fields: Record<string, FieldSchema>,
  value: JsonObject,
  walk: Walk,
  large: LargeValues,
): Steps<void> {
  const walker: Walker = {
    walk: (key) => decodeField(schema, fields, value, key as string, walk),
    *walking(key) {
      const field = fields[key] as FieldSchema // large values are known fields
      const given = value[key] as Json
      walk.path.push(key)
      const decoded = yield* decoding(field.schema, given, walk, large)
      walk.path.pop()
      putField(field, value, key as string, given, decoded, walk)
    },
  }
  yield* large.walking(schema, value, walker, walk.converts ? inOrder(fields, value) : undefined)
  writeStructs(fields, value)
}

/** decodeItems() or decodeValues() of a large list or map. */
function* decodingMembers(
  schema: Schema,
  items: Schema,
  value: JsonObject | Json[],
  walk: Walk,
  large: LargeValues,
): Steps<void> {
  const depth = walk.path.length
  const values = value as JsonObject
  const amounts = schema.type === "map" && items.format === "quantity" && walk.roundsAmounts
  yield* large.walking(schema, value, {
    walk(key) {
      walk.path[depth] = key
      if (Array.isArray(value)) value[key as number] = decodeItem(items, value[key as number] as Json, walk)
      else decodeEntry(items, value, key as string, amounts, walk)
    },
    *walking(key) {
      walk.path[depth] = key
      const decoded = yield* decoding(items, values[key] as Json, walk, large)
      if (decoded !== values[key]) setOwn(values, String(key), decoded)
    },
  })
  walk.path.length = depth
  if (!Array.isArray(value)) walk.filled = value
}
