// Go's zero values: which of them its encoder omits, and which it prints although they were not given ("containers": null).

import type { Json } from "../object.ts"
import type { Steps } from "../steps.ts"
import { isEmptyObject, type JsonObject } from "./json-object.ts"
import { LargeValues } from "./large-values.ts"
import type { FieldSchema, Schema } from "./schema.ts"

/** For a field that is not a pointer: whether Go's "omitempty" (or "omitzero", for structs) would drop it. */
export function isZero(schema: Schema, value: Json): boolean {
  if (typeof value === "object" && value !== null) {
    if (Array.isArray(value)) return value.length === 0
    return (schema.type === "object" || schema.type === "map") && isEmptyObject(value)
  }
  return value === null || value === "" || value === 0 || value === false
}

/** The value that replaces null in a list or map, in which every place holds a value. */
export function zeroOf(schema: Schema): Json {
  switch (schema.type) {
    case "object": {
      const struct: JsonObject = {}
      if (schema.fields === undefined) return null
      for (const [key, zero] of zerosOf(schema.fields)) if (zero.struct !== undefined) struct[key] = zeroOf(zero.struct)
      return struct
    }
    case "string":
      return schema.format === "quantity" ? "0" : schema.format === "time" || schema.format === "microTime" ? null : ""
    case "integer":
    case "number":
    case "intOrString":
      return 0
    case "boolean":
      return false
    case "list":
    case "map":
    case "any":
      return null
  }
}

interface Zero {
  value: Json
  /** The zero value is this struct with its own zero values. */
  struct?: Schema
}

const written = new WeakMap<Record<string, FieldSchema>, readonly [string, Zero][]>()

function zerosOf(fields: Record<string, FieldSchema>): readonly [string, Zero][] {
  let zeros = written.get(fields)
  if (zeros === undefined) {
    zeros = Object.entries(fields)
      .filter(([, field]) => field.zero === "write")
      .map(([key, field]): [string, Zero] => {
        if (field.pointer === true) return [key, { value: null }]
        return field.schema.type === "object" && field.schema.fields !== undefined
          ? [key, { value: null, struct: field.schema }]
          : [key, { value: field.schema.format === "byte" ? null : zeroOf(field.schema) }] // absent bytes are null, like lists
      })
    written.set(fields, zeros)
  }
  return zeros
}

/** A scalar, or a part of a stored object, which has all of them. */
const isSettled = (value: Json): value is Exclude<Json, object> =>
  typeof value !== "object" || value === null || Object.isFrozen(value)

/**
 * Adds to a decoded object what Go prints for absent fields, at every level: `"rules": null`, `"image": ""`, `"status": {}`. This
 * is the last step before an object is stored or returned. Custom resources have no such fields. `isStored`: empty lists become
 * absent, because upstream stores protobuf.
 */
export function writeZeros(schema: Schema, value: Json, isStored = true): void {
  if (isSettled(value)) return
  if (Array.isArray(value)) {
    if (schema.items !== undefined && holdsStructs(schema.items))
      for (const item of value) writeZeros(schema.items, item, isStored)
    return
  }
  if (schema.type === "map") {
    if (schema.items !== undefined && holdsStructs(schema.items)) {
      for (const item of Object.values(value)) writeZeros(schema.items, item, isStored)
    }
    return
  }
  const { fields } = schema
  if (fields === undefined || schema.custom === true) return
  for (const key of Object.keys(value)) writeIn(fields[key]?.schema, value[key] as Json, isStored)
  writeOwnZeros(fields, value, isStored)
}

function writeOwnZeros(fields: Record<string, FieldSchema>, value: JsonObject, isStored: boolean): void {
  for (const [key, zero] of zerosOf(fields)) {
    const present = value[key]
    const isNone = isStored && zero.value === null && Array.isArray(present) && present.length === 0
    if (present !== undefined && !isNone) continue
    const made = zero.struct === undefined ? zero.value : {}
    value[key] = made
    if (zero.struct !== undefined) writeZeros(zero.struct, made)
  }
}

/** The same in steps, where the value is large. */
export function writingZeros(schema: Schema, value: Json, isStored = true): Steps<void> {
  return writingLarge(schema, value, isStored, new LargeValues(holdsStructsWithin))
}

function* writingLarge(schema: Schema, value: Json, isStored: boolean, large: LargeValues): Steps<void> {
  if (isSettled(value) || schema.custom === true || !large.has(schema, value))
    return writeZeros(schema, value, isStored)
  const { fields, items } = schema
  const values = value as JsonObject
  const within = (key: string | number): Schema | undefined => (fields === undefined ? items : fields[key]?.schema)
  yield* large.walking(schema, value, {
    walk: (key) => writeIn(within(key), values[key] as Json, isStored),
    *walking(key) {
      const inner = within(key)
      if (inner !== undefined) yield* writingLarge(inner, values[key] as Json, isStored, large)
    },
  })
  if (fields !== undefined) writeOwnZeros(fields, values, isStored)
}

function holdsStructsWithin({ type, fields, items }: Schema): boolean {
  return type === "object" ? fields !== undefined : items !== undefined && holdsStructs(items)
}

function writeIn(schema: Schema | undefined, value: Json, isStored: boolean): void {
  if (schema !== undefined && holdsStructs(schema)) writeZeros(schema, value, isStored)
}

/** Only texts, numbers and booleans, which clients may also write themselves: before an object is compared with a stored one. */
export function writeScalarZeros(schema: Schema, value: Json): void {
  if (isSettled(value) || schema.custom === true) return
  if (Array.isArray(value) || schema.type === "map") {
    const { items } = schema
    if (items !== undefined && holdsStructs(items))
      for (const item of Object.values(value)) writeScalarZeros(items, item)
    return
  }
  const { fields } = schema
  if (fields === undefined) return
  for (const key of Object.keys(value)) {
    const field = fields[key]
    if (field !== undefined && holdsStructs(field.schema)) writeScalarZeros(field.schema, value[key] as Json)
  }
  for (const [key, zero] of zerosOf(fields)) if (zero.value !== null) value[key] ??= zero.value
}

/** Drops the nulls that {@link writeZeros} adds: an object that was read from the store is then as a decoder leaves it. */
export function omitNulls(schema: Schema, value: Json): void {
  if (typeof value !== "object" || value === null || schema.custom === true) return
  if (Array.isArray(value) || schema.type === "map") {
    const { items } = schema
    if (items !== undefined && holdsStructs(items)) for (const item of Object.values(value)) omitNulls(items, item)
    return
  }
  const { fields } = schema
  if (fields === undefined) return
  for (const [key, zero] of zerosOf(fields)) if (zero.value === null && value[key] === null) delete value[key]
  for (const key of Object.keys(value)) {
    const field = fields[key]
    if (field !== undefined && holdsStructs(field.schema)) omitNulls(field.schema, value[key] as Json)
  }
}

function holdsStructs(schema: Schema): boolean {
  return schema.type === "object" || schema.type === "list" || schema.type === "map"
}
