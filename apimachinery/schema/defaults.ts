// Sets defaults that do not depend on other fields: of built-in kinds (facts.json) and of custom resources. Defaults that depend
// on other fields belong to the kinds' strategies.

import { requestEntityTooLarge } from "../status.ts"
import { copyJson } from "../copy.ts"
import type { Json } from "../object.ts"
import type { Steps } from "../steps.ts"
import { type JsonObject, setOwn } from "./json-object.ts"
import { LargeValues, type Walker } from "./large-values.ts"
import { type FieldSchema, type Schema, schemaOfEntry, schemaOfItems } from "./schema.ts"

/**
 * Modifies the object. Defaults that are objects are themselves defaulted, as upstream does. A null where none is allowed is
 * replaced by the default; without a default it is dropped, unless `keepsNulls` and it would be rejected.
 */
export function applyDefaults(schema: Schema, object: Json, keepsNulls = false): void {
  if (schema.custom === true) dropNulls(schema, object, keepsNulls)
  addDefaults(schema, object)
}

/** The same in steps, where the object is large. */
export function* applyingDefaults(schema: Schema, object: Json, keepsNulls = false): Steps<void> {
  if (schema.custom === true) dropNulls(schema, object, keepsNulls)
  yield* visitingMissing(schema, object, adding(), new LargeValues(isVisited))
}

/** Whether {@link applyDefaults} would add something. Fails as that does if it would be too much: nobody could read the object. */
export function lacksDefaults(schema: Schema, object: Json): boolean {
  if (!hasDefaults(schema)) return false
  const lacksNone = visitMissing(schema, object, () => false)
  if (!lacksNone) addDefaults(schema, copyJson(object))
  return !lacksNone
}

/**
 * Approximate limit of added bytes; more could not be stored. It is needed because each of many items may get a default as large
 * as all of them. Beyond: 413.
 */
const maxAdded = 4 * 1024 * 1024

export function addDefaults(schema: Schema, object: Json): void {
  visitMissing(schema, object, adding())
}

function adding(): VisitMissing {
  let left = maxAdded
  return (holder, key, preset) => {
    left -= sizeOf(preset)
    if (left < 0) throw requestEntityTooLarge(`Request entity too large: defaults add more than ${maxAdded} bytes`)
    setOwn(holder, key, typeof preset === "object" ? copyJson(preset) : preset)
    return true
  }
}

/** Called with where a default is missing. What it puts there is visited next. False: the walk ends. */
type VisitMissing = (holder: JsonObject, key: string, preset: Json) => boolean

/** False: the visitor ended it. */
function visitMissing(schema: Schema, value: Json, visit: VisitMissing): boolean {
  if (typeof value !== "object" || value === null) return true
  if (Array.isArray(value) || schema.type === "map") {
    return schema.items === undefined || !hasDefaults(schema.items) || visitEntries(schema.items, value, visit)
  }
  for (const [key, field] of defaultedOf(schema)) {
    if (!visitField(field, value, key, visit)) return false
    if (Object.hasOwn(value, key) && !visitMissing(field.schema, value[key] as Json, visit)) return false
  }
  return typeof schema.more !== "object" || !hasDefaults(schema.more) || visitMore(schema, schema.more, value, visit)
}

function visitEntries(schema: Schema, values: JsonObject | Json[], visit: VisitMissing): boolean {
  const keys = Array.isArray(values) ? values.keys() : Object.keys(values)
  for (const key of keys) if (!visitEntry(schema, values as JsonObject, key, visit)) return false
  return true
}

/** visitMissing() in steps, for a visitor that does not end it. */
function* visitingMissing(schema: Schema, value: Json, visit: VisitMissing, large: LargeValues): Steps<void> {
  if (!large.has(schema, value)) return void visitMissing(schema, value, visit)
  const values = value as JsonObject
  const { items } = schema
  if (Array.isArray(value) || schema.type === "map") {
    if (items === undefined) return
    return yield* large.walking(schema, value, {
      walk: (key) => void visitEntry(items, values, key, visit),
      walking: (key) => visitingMissing(items, values[key] as Json, visit, large),
    })
  }
  const fields = new Map<string | number, FieldSchema>(defaultedOf(schema))
  const walker: Walker = {
    walk(key) {
      const field = fields.get(key) as FieldSchema
      visitField(field, values, String(key), visit)
      if (Object.hasOwn(values, key)) visitMissing(field.schema, values[key] as Json, visit)
    },
    walking: (key) => visitingMissing((fields.get(key) as FieldSchema).schema, values[key] as Json, visit, large),
  }
  yield* large.walking(schema, value, walker, fields.keys())
  if (typeof schema.more === "object" && hasDefaults(schema.more)) visitMore(schema, schema.more, values, visit)
}

const isVisited = (schema: Schema): boolean =>
  hasDefaults(schema) && (schema.type === "object" || (schema.items !== undefined && hasDefaults(schema.items)))

/** Only the field itself. */
function visitField(field: FieldSchema, value: JsonObject, key: string, visit: VisitMissing): boolean {
  const preset = field.default ?? field.schema.default
  return preset === undefined || !isMissing(field, value, key) || visit(value, key, preset)
}

/** `values`: also a list, by index. */
function visitEntry(schema: Schema, values: JsonObject, key: string | number, visit: VisitMissing): boolean {
  const isMissing = values[key] === null && schema.default !== undefined && schema.nullable !== true
  if (isMissing && !visit(values, String(key), schema.default as Json)) return false
  return visitMissing(schema, values[key] as Json, visit)
}

/** For an object with both named fields and a schema for other fields, which is only possible if its type is "any". */
function visitMore(schema: Schema, more: Schema, value: JsonObject, visit: VisitMissing): boolean {
  return Object.keys(value)
    .filter((key) => schema.fields === undefined || !Object.hasOwn(schema.fields, key))
    .every((key) => visitEntry(more, value, key, visit))
}

function isMissing(field: FieldSchema, value: JsonObject, key: string): boolean {
  if (!Object.hasOwn(value, key)) return true
  const given = value[key]
  if (field.pointer === true) return false
  // For a field that is not a pointer, absent and zero are indistinguishable.
  if (field.zero === undefined) return given === null && field.schema.nullable !== true
  return given === null || given === "" || given === 0 || given === false
}

const sizes = new WeakMap<object, number>()

/** In bytes, of what takes memory for each copy. */
function sizeOf(preset: Json): number {
  if (typeof preset === "string") return preset.length
  if (typeof preset !== "object" || preset === null) return 0
  let size = sizes.get(preset)
  if (size === undefined) sizes.set(preset, (size = JSON.stringify(preset).length))
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
