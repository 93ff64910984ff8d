// Traverses a value of a known type in place: checks JSON types, drops null and unknown fields, and converts values to their
// canonical form.

import type { Json } from "../../object.ts"
import { decodeBytes } from "./bytes.ts"
import { Mismatch, notParts, what } from "./errors.ts"
import { decodeInteger, decodeSelfReading, literalOf, notText, type NumberPlace } from "./numbers.ts"
import { noteGivenEmpty, noteGivenEmptyBytes, noteGivenNullBytes, noteGivenTime, noteGivenZeroTime } from "./given.ts"
import { isObject, type JsonObject, setOwn } from "../json-object.ts"
import { maxStrictFaults } from "../json/scan.ts"
import { canonicalQuantity, canonicalScalar, ScalarError } from "../scalars.ts"
import type { Steps } from "../../steps.ts"
import { LargeValues, type Walker } from "../large-values.ts"
import type { FieldSchema, Schema } from "../schema.ts"
import { isZero, zeroOf } from "../zeros.ts"

/** Maximum number of reported unknown fields in a value merged in memory. Upstream reports all, which may be a million. */
const maxMergedFaults = 1000

/** The state of one decoding. */
export interface Walk extends NumberPlace {
  /** The current path. */
  path: (string | number)[]
  /** Paths of unknown fields; undefined if they are not collected. */
  unknown: (readonly (string | number)[])[] | undefined
  /** The error to report at the end, unless another one ends the decoding before. */
  fault: Mismatch | ScalarError | undefined
  /** Times are canonical already. Those of the year 10000, to which an offset leads, could not be read a second time. */
  keepsTimes: boolean
  /** The map decoded last in which there is something: to be asked for that once more it would list all its keys. */
  filled?: JsonObject
  /** Lists of resources are kept in thousandths. Amounts of devices are not of that type, and are kept exactly. */
  roundsAmounts: boolean
}

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

/** The same in steps, where the value is large. */
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

/** Never called for null, whose meaning depends on the parent. */
function decode(schema: Schema, value: Json, walk: Walk): Json {
  const depth = walk.path.length
  try {
    return decodeValue(schema, value, walk)
  } catch (error) {
    return keptFault(error, schema, value, walk, depth)
  }
}

/** The value as it is, if the decoding goes on after this error. */
function keptFault(error: unknown, schema: Schema, value: Json, walk: Walk, depth: number): Json {
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

function decodeField(
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

/** It is null or unknown. */
function dropField(
  field: FieldSchema | undefined,
  { preserveUnknown }: Schema,
  value: JsonObject,
  key: string,
  walk: Walk,
): void {
  if (field === undefined) {
    if (preserveUnknown === true) return
    const most = walk.converts ? maxMergedFaults : maxStrictFaults
    if (walk.unknown !== undefined && walk.unknown.length < most) walk.unknown.push([...walk.path, key])
  }
  delete value[key]
}

function putField(field: FieldSchema, value: JsonObject, key: string, given: Json, decoded: Json, walk: Walk): void {
  // Metadata is decoded once more to find the first fault, for which what is of another type must still be there.
  if (walk.fault !== undefined) return
  if (decoded === null) {
    if (Array.isArray(given)) noteGivenEmpty(value, key)
    delete value[key]
  } else if (isUnsetTime(field, decoded)) {
    delete value[key]
    noteGivenZeroTime(value, key)
  } else if (field.zero === "omit" && decoded !== walk.filled && isZero(field.schema, decoded) && !isReset(key, walk)) {
    if (typeof decoded === "object") noteGivenEmpty(value, key)
    else if (field.schema.format === "byte") noteGivenEmptyBytes(value, key)
    delete value[key]
  } else if (decoded !== given) {
    value[key] = decoded
    if (field.schema.format === "time") noteGivenTime(value, key, given as string, decoded)
  }
}

/** Of the fields of a struct. */
const positions = new WeakMap<Record<string, FieldSchema>, ReadonlyMap<string, number>>()

/** A conversion in memory looks for the fields of a struct, and tells the first that is wrong. Usually they are in order. */
function inOrder(fields: Record<string, FieldSchema>, value: JsonObject): string[] {
  const keys = Object.keys(value)
  if (keys.length < 2) return keys
  let known = positions.get(fields)
  if (known === undefined) positions.set(fields, (known = new Map(Object.keys(fields).map((key, at) => [key, at]))))
  let last = 0
  for (const key of keys) {
    const at = known.get(key) ?? known.size
    if (at < last) return sorted(keys, known)
    last = at
  }
  return keys
}

function sorted(keys: string[], known: ReadonlyMap<string, number>): string[] {
  const at = (key: string): number => known.get(key) ?? known.size
  return keys.sort((one, other) => at(one) - at(other))
}

const isTime = (format: string | undefined): boolean => format === "time" || format === "microTime"

/** Of Go's times that are no pointers, the first second of the first year is the one that is not set. */
function isUnsetTime({ zero, schema: { format } }: FieldSchema, decoded: Json): boolean {
  if (zero === undefined || !isTime(format)) return false
  return decoded === "0001-01-01T00:00:00Z" || decoded === "0001-01-01T00:00:00.000000Z"
}

/** An empty list of managers differs from an absent one: it is a request to remove them. */
function isReset(key: string, { path }: Walk): boolean {
  return key === "managedFields" && path.length === 1 && path[0] === "metadata"
}

/** Adds structs that Go always prints, so that code finds spec, status and metadata where it expects them. */
function writeStructs(fields: Record<string, FieldSchema>, value: JsonObject): void {
  for (const [key, schema] of structsOf(fields)) {
    if (value[key] !== undefined) continue
    const struct: JsonObject = {}
    if (schema.fields !== undefined) writeStructs(schema.fields, struct)
    value[key] = struct
  }
}

const structs = new WeakMap<Record<string, FieldSchema>, readonly [string, Schema][]>()

function structsOf(fields: Record<string, FieldSchema>): readonly [string, Schema][] {
  let found = structs.get(fields)
  if (found === undefined) {
    found = Object.entries(fields)
      .filter(([, field]) => field.zero === "write" && field.pointer !== true && field.schema.type === "object")
      .filter(([, field]) => field.schema.fields !== undefined)
      .map(([key, field]): [string, Schema] => [key, field.schema])
    structs.set(fields, found)
  }
  return found
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

function decodeItem(items: Schema, item: Json, walk: Walk): Json {
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
function decodeEntry(items: Schema, map: JsonObject, key: string, amounts: boolean, walk: Walk): void {
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
