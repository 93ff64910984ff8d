// Traverses a value of a known type in place: checks JSON types, drops null and unknown fields, and converts values to their
// canonical form.

import type { Json } from "../../object.ts"
import { decodeBytes } from "./bytes.ts"
import { Mismatch, notParts, what } from "./errors.ts"
import { dropField, inOrder, isTime, putField, writeStructs } from "./fields.ts"
import { noteGivenNullBytes } from "./given.ts"
import { decodeInteger, decodeSelfReading, literalOf, notText } from "./numbers.ts"
import type { Walk } from "./walk.ts"
import { isObject, type JsonObject, setOwn } from "../json-object.ts"
import { canonicalQuantity, canonicalScalar, ScalarError } from "../scalars.ts"
import type { FieldSchema, Schema } from "../schema.ts"
import { zeroOf } from "../zeros.ts"

/** Throws the first error that was found. */
export function decodeWhole(schema: Schema, value: Json, walk: Walk): Json {
  const { stackTraceLimit } = Error
  try {
    const decoded = decode(schema, value, walk)
    if (walk.fault !== undefined) throw walk.fault
    return decoded
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** Never called for null, whose meaning depends on the parent. */
export function decode(schema: Schema, value: Json, walk: Walk): Json {
  const depth = walk.path.length
  try {
    return decodeValue(schema, value, walk)
  } catch (error) {
    return keptFault(error, schema, value, walk, depth)
  }
}

/** The value as it is, if the decoding goes on after this error. */
export function keptFault(error: unknown, schema: Schema, value: Json, walk: Walk, depth: number): Json {
  if (!isKept(error, schema, walk)) throw error
  walk.fault ??= error
  // Of others, of which there may be very many, nothing is told.
  Error.stackTraceLimit = 0
  walk.path.length = depth
  return value
}

/**
 * Source: sigs.k8s.io/json/internal/golang/encoding/json/decode.go: saveError() for errors of the decoder itself; an error of an
 * Unmarshaler ends the decoding. A conversion in memory ends with the first error.
 */
function isKept(error: unknown, { format }: Schema, { converts }: Walk): error is Mismatch | ScalarError {
  if (converts) return false
  return error instanceof Mismatch ? !error.ends : error instanceof ScalarError && format === "byte"
}

function decodeValue(schema: Schema, value: Json, walk: Walk): Json {
  switch (schema.type) {
    case "object":
      if (schema.fields === undefined) return value // raw: any value is accepted
      if (!isObject(value)) throw notParts(walk.path, value, schema)
      decodeFields(schema.fields, value, walk, schema)
      return value
    case "list":
      if (!Array.isArray(value)) throw notParts(walk.path, value, schema)
      return decodeItems(schema, value, walk)
    case "map":
      if (!isObject(value)) throw notParts(walk.path, value, schema)
      return decodeValues(schema, value, walk)
    case "string":
      if (schema.format === "quantity") return canonicalScalar("quantity", literalOf(value, walk))
      if (schema.format === "byte") return decodeBytes(schema, value, walk)
      if (typeof value !== "string") throw notText(schema, value, walk)
      if (schema.format === undefined || (walk.keepsTimes && isTime(schema.format))) return value
      return canonicalScalar(schema.format, value)
    case "boolean":
      if (typeof value !== "boolean") throw new Mismatch(walk.path, what(value), schema)
      return value
    case "integer":
      return decodeInteger(schema, value, walk)
    case "number":
      if (typeof value === "bigint") return Number(value)
      if (typeof value !== "number") throw new Mismatch(walk.path, what(value), schema)
      if (!Number.isFinite(value)) throw new Mismatch(walk.path, `number ${literalOf(value, walk)}`, schema)
      return value
    case "intOrString":
      return typeof value === "string" ? value : decodeSelfReading(schema, value, walk)
    case "any":
      return schema.union === undefined ? value : decodeUnion(schema.union, value, walk)
  }
}

/** Upstream decodes the content separately, without collecting unknown fields. */
function decodeUnion({ object, list, boolean }: NonNullable<Schema["union"]>, value: Json, walk: Walk): Json {
  const within = { ...walk, unknown: undefined, fault: undefined }
  try {
    if (isObject(value)) return decodeWhole(object, value, within)
    if (boolean === true && typeof value !== "boolean") throw new ScalarError("boolean or JSON schema expected")
    if (boolean === true) return value
    return list !== undefined && Array.isArray(value) && value.length > 0 ? decodeWhole(list, value, within) : null
  } catch (error) {
    throw error instanceof Mismatch ? error.ending() : error
  }
}

function decodeFields(fields: Record<string, FieldSchema>, value: JsonObject, walk: Walk, schema: Schema): void {
  for (const key of walk.converts ? inOrder(fields, value) : Object.keys(value))
    decodeField(schema, fields, value, key, walk)
  writeStructs(fields, value)
}

export function decodeField(
  schema: Schema,
  fields: Record<string, FieldSchema>,
  value: JsonObject,
  key: string,
  walk: Walk,
): void {
  const field = fields[key]
  const given = value[key] as Json
  if (field === undefined || given === null) return dropField(field, schema, value, key, walk)
  walk.path.push(key)
  const decoded = decode(field.schema, given, walk)
  walk.path.pop()
  putField(field, value, key, given, decoded, walk)
}

export function decodeItem(items: Schema, item: Json, walk: Walk): Json {
  return item === null ? zeroOf(items) : decode(items, item, walk)
}

function decodeItems(schema: Schema, list: Json[], walk: Walk): Json[] {
  const { items } = schema
  if (items === undefined) return list
  const depth = walk.path.length
  for (let index = 0; index < list.length; index++) {
    walk.path[depth] = index
    list[index] = decodeItem(items, list[index] as Json, walk)
  }
  walk.path.length = depth
  return list
}

function decodeValues(schema: Schema, map: JsonObject, walk: Walk): JsonObject {
  const { items } = schema
  if (items === undefined) return map
  const amounts = items.format === "quantity" && walk.roundsAmounts
  const keys = Object.keys(map)
  for (const key of keys) {
    walk.path.push(key)
    decodeEntry(items, map, key, amounts, walk)
    walk.path.pop()
  }
  if (keys.length > 0) walk.filled = map
  return map
}

/** `amounts`: they are kept in thousandths. */
export function decodeEntry(items: Schema, map: JsonObject, key: string, amounts: boolean, walk: Walk): void {
  const given = map[key] as Json
  const decoded =
    given === null
      ? zeroOf(items)
      : amounts
        ? canonicalQuantity(literalOf(given, walk), true)
        : decode(items, given, walk)
  if (decoded !== given) setOwn(map, key, decoded)
  if (given === null && items.format === "byte") noteGivenNullBytes(map, key)
}
