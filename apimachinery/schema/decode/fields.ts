// What becomes of the fields of a struct once they are decoded: kept, dropped, noted as given; and of those that are absent.

import type { Json } from "../../object.ts"
import type { JsonObject } from "../json-object.ts"
import { maxStrictFaults } from "../json/scan.ts"
import type { FieldSchema, Schema } from "../schema.ts"
import { isZero } from "../zeros.ts"
import { noteGivenEmpty, noteGivenEmptyBytes, noteGivenTime, noteGivenZeroTime } from "./given.ts"
import type { Walk } from "./walk.ts"

/** Maximum number of reported unknown fields in a value merged in memory. Upstream reports all, which may be a million. */
const maxMergedFaults = 1000

/** It is null or unknown. */
export function dropField(
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

export function putField(
  field: FieldSchema,
  value: JsonObject,
  key: string,
  given: Json,
  decoded: Json,
  walk: Walk,
): void {
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
export function inOrder(fields: Record<string, FieldSchema>, value: JsonObject): string[] {
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

export const isTime = (format: string | undefined): boolean => format === "time" || format === "microTime"

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
export function writeStructs(fields: Record<string, FieldSchema>, value: JsonObject): void {
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
