// Sets defaults that do not depend on other fields: of built-in kinds (facts.json) and of custom resources. Defaults that depend
// on other fields belong to the kinds' strategies.

import { requestEntityTooLarge } from "../status.ts"
import { copyJson } from "../copy.ts"
import type { Json } from "../object.ts"
import { type JsonObject, setOwn } from "./json-object.ts"
import { type FieldSchema, type Schema, schemaOfEntry, schemaOfItems } from "./schema.ts"

/**
 * Modifies the object. Defaults that are objects are themselves defaulted, as upstream does. A null where none is allowed is
 * replaced by the default; without a default it is dropped, unless `keepsNulls` and it would be rejected.
 */
export function applyDefaults(schema: Schema, object: Json, keepsNulls = false): void {
  if (schema.custom === true) dropNulls(schema, object, keepsNulls)
  fill(schema, object, { left: maxAdded, isUsed: false })
}

/** Whether {@link applyDefaults} would add something. */
export function lacksDefaults(schema: Schema, object: Json): boolean {
  if (!hasDefaults(schema)) return false
  const room = { left: maxAdded, isUsed: false }
  fill(schema, copyJson(object), room)
  return room.isUsed
}

/**
 * Approximate limit of added bytes; more could not be stored. It is needed because each of many items may get a default as large
 * as all of them. Beyond: 413.
 */
const maxAdded = 4 * 1024 * 1024

/** For what is added. */
interface Room {
  /** The remaining number of bytes. */
  left: number
  isUsed: boolean
}

function fill(schema: Schema, value: Json, room: Room): void {
  if (typeof value !== "object" || value === null) return
  if (Array.isArray(value)) {
    if (schema.items !== undefined && hasDefaults(schema.items)) fillEntries(schema.items, value, room)
    return
  }
  if (schema.type === "map") {
    if (schema.items !== undefined && hasDefaults(schema.items)) fillEntries(schema.items, value, room)
    return
  }
  for (const [key, field] of defaultedOf(schema)) {
    const preset = field.default ?? field.schema.default
    if (preset !== undefined && isMissing(field, value, key)) setOwn(value, key, copy(preset, room))
    if (Object.hasOwn(value, key)) fill(field.schema, value[key] as Json, room)
  }
  if (typeof schema.more === "object" && hasDefaults(schema.more)) fillMore(schema, schema.more, value, room)
}

function fillEntries(schema: Schema, values: JsonObject | Json[], room: Room): void {
  for (const [key, value] of Object.entries(values)) fillEntry(schema, values, key, value, room)
}

function fillEntry(schema: Schema, values: JsonObject | Json[], key: string, value: Json, room: Room): void {
  if (value === null && schema.default !== undefined && schema.nullable !== true) {
    setOwn(values as JsonObject, key, copy(schema.default, room))
  }
  fill(schema, (values as JsonObject)[key] as Json, room)
}

/** For an object with both named fields and a schema for other fields, which is only possible if its type is "any". */
function fillMore(schema: Schema, more: Schema, value: JsonObject, room: Room): void {
  const others = Object.entries(value).filter(
    ([key]) => schema.fields === undefined || !Object.hasOwn(schema.fields, key),
  )
  for (const [key, item] of others) fillEntry(more, value, key, item, room)
}

function isMissing(field: FieldSchema, value: JsonObject, key: string): boolean {
  if (!Object.hasOwn(value, key)) return true
  const given = value[key]
  if (field.pointer === true) return false
  // For a field that is not a pointer, absent and zero are indistinguishable.
  if (field.zero === undefined) return given === null && field.schema.nullable !== true
  return given === null || given === "" || given === 0 || given === false
}

function copy(value: Json, room: Room): Json {
  room.isUsed = true
  const isObject = typeof value === "object" && value !== null
  if (!isObject && typeof value !== "string") return value
  room.left -= isObject ? sizeOf(value) : value.length
  if (room.left < 0) {
    throw requestEntityTooLarge(`Request entity too large: defaults add more than ${maxAdded} bytes`)
  }
  return isObject ? copyJson(value) : value
}

const sizes = new WeakMap<object, number>()

function sizeOf(value: object): number {
  let size = sizes.get(value)
  if (size === undefined) sizes.set(value, (size = JSON.stringify(value).length))
  return size
}

/** Fields that have a default at or below them; cached by schema, since types are shared. */
const defaulted = new WeakMap<Schema, readonly [string, FieldSchema][]>()
const none: readonly [string, FieldSchema][] = []

function defaultedOf(schema: Schema): readonly [string, FieldSchema][] {
  const known = defaulted.get(schema)
  if (known !== undefined) return known
  const found = Object.entries(schema.fields ?? {}).filter(
    ([, field]) => field.default !== undefined || hasDefaults(field.schema),
  )
  defaulted.set(schema, found.length === 0 ? none : found)
  return found
}

const answers = new WeakMap<Schema, boolean>()

/** Whether the schema has a default at any level. Recursive types are visited once. */
function hasDefaults(schema: Schema, underWay: Set<Schema> = new Set()): boolean {
  const known = answers.get(schema)
  if (known !== undefined) return known
  if (underWay.has(schema)) return false
  underWay.add(schema)
  const answer =
    schema.default !== undefined ||
    (schema.items !== undefined && hasDefaults(schema.items, underWay)) ||
    (typeof schema.more === "object" && hasDefaults(schema.more, underWay)) ||
    Object.values(schema.fields ?? {}).some(
      (field) => field.default !== undefined || hasDefaults(field.schema, underWay),
    )
  // A negative result within a cycle may be incomplete; only that of the outermost call is cached.
  if (answer || underWay.size === 1) answers.set(schema, answer)
  return answer
}

/** A null where null is not allowed counts as absent (except in lists, where it has a position). */
export function dropNulls(schema: Schema, value: Json, keepsNulls = false): void {
  if (typeof value !== "object" || value === null) return
  if (Array.isArray(value)) {
    const items = schemaOfItems(schema)
    if (items !== undefined) for (const item of value) dropNulls(items, item, keepsNulls)
    return
  }
  for (const key of Object.keys(value)) {
    const field = schemaOfEntry(schema, key)
    if (field === undefined || field === "none") continue
    const isKept = field.nullable === true || field.default !== undefined || (keepsNulls && field.type !== "any")
    if (value[key] === null && !isKept) delete value[key]
    else dropNulls(field, value[key] as Json, keepsNulls)
  }
}
