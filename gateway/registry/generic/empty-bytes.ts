// Bytes that were given and are none. Upstream stores them as others than absent ones, although both are printed alike in JSON; and null in
// a map of bytes as another value than empty ones, as which it is read. Here they are stored as "" and as null. Readers drop the one and make
// the other empty, and note what they were at what was read (apimachinery/schema/decode/given.ts). Few kinds have bytes.

import { copyJson } from "../../../apimachinery/copy.ts"
import type { Json, KubeObject } from "../../../apimachinery/object.ts"
import {
  isGivenEmptyBytes,
  isGivenNullBytes,
  noteGivenEmptyBytes,
  noteGivenNullBytes,
} from "../../../apimachinery/schema/decode/given.ts"
import { isObject, type JsonObject } from "../../../apimachinery/schema/json-object.ts"
import type { Schema } from "../../../apimachinery/schema/schema.ts"
import { isDelegated } from "../delegated-groups.ts"

interface Kind {
  group: string
  schema: Schema
}

/** The way to bytes: the names of fields, and `each` for all items of a list or values of a map. */
type Way = readonly (string | typeof each)[]

const each = Symbol("each")
const none: readonly Way[] = []
const found = new WeakMap<Schema, readonly Way[]>()

/** The object as it is stored: itself if it has no such bytes. */
export function withEmptyBytes(kind: Kind, object: KubeObject): KubeObject {
  return withGiven(kind, object, emptyBytesOf(kind, object))
}

/** The object as its managers are found: itself if it has no null in a map of bytes. */
export function withNullBytes(kind: Kind, object: KubeObject): KubeObject {
  return withGiven(
    kind,
    object,
    emptyBytesOf(kind, object).filter(({ isValue }) => isValue),
  )
}

function withGiven(kind: Kind, object: KubeObject, places: readonly EmptyBytes[]): KubeObject {
  if (places.length === 0) return object
  const paths = new Set(places.map(({ path }) => path))
  const given = copyJson(object)
  visit(kind, given, (holder, key, isValue, path) => {
    if (paths.has(path)) holder[key] = isValue ? null : ""
  })
  return given
}

/** The object as it is read: itself if it was stored without such bytes. */
export function withoutEmptyBytes(kind: Kind, stored: KubeObject): KubeObject {
  let hasNone = true
  visit(kind, stored, (holder, key, isValue) => {
    if (isStoredEmpty(holder[key], isValue)) hasNone = false
  })
  if (hasNone) return stored
  const read = copyJson(stored)
  visit(kind, read, (holder, key, isValue) => {
    if (!isStoredEmpty(holder[key], isValue)) return
    if (isValue) {
      holder[key] = ""
      noteGivenNullBytes(holder, key)
    } else {
      delete holder[key]
      noteGivenEmptyBytes(holder, key)
    }
  })
  return read
}

/** What is written without having been decoded has the same bytes as the current object, and as which it has been read. */
export function keepEmptyBytes(kind: Kind, copy: KubeObject, current: KubeObject): void {
  const paths = new Set(emptyBytesOf(kind, current).flatMap(({ path, isValue }) => (isValue ? [] : [path])))
  if (paths.size === 0) return
  visit(kind, copy, (holder, key, _isValue, path) => {
    if (paths.has(path)) noteGivenEmptyBytes(holder, key)
  })
}

function isStoredEmpty(value: Json | undefined, isValue: boolean): boolean {
  return value === (isValue ? null : "")
}

/**
 * Whether an object differs from the current one in such bytes. Upstream compares what it writes with what it has read, so writing null is
 * always a change.
 */
export function changesEmptyBytes(kind: Kind, object: KubeObject, current: KubeObject): boolean {
  const [places, others] = [emptyBytesOf(kind, object), emptyBytesOf(kind, current)]
  if (places.length !== others.length) return true
  return places.some(({ path, isValue }, index) => isValue || path !== others[index]?.path)
}

interface EmptyBytes {
  path: string
  /** Null in a map of bytes. */
  isValue: boolean
}

function emptyBytesOf(kind: Kind, object: KubeObject): EmptyBytes[] {
  const places: EmptyBytes[] = []
  visit(kind, object, (holder, key, isValue, path) => {
    if (isValue ? isGivenNullBytes(holder, key) : isGivenEmptyBytes(holder, key)) places.push({ path, isValue })
  })
  return places
}

/** `isValue`: of a map of bytes. */
type Visit = (holder: JsonObject, key: string, isValue: boolean, path: string) => void

function visit({ group, schema }: Kind, object: KubeObject, call: Visit): void {
  // Stored as JSON, as which both are the same.
  if (isDelegated(group)) return
  for (const way of waysOf(schema)) follow(object as unknown as Json, way, 0, "", call)
}

function follow(value: Json | undefined, way: Way, at: number, path: string, call: Visit): void {
  const step = way[at]
  if (typeof value !== "object" || value === null || step === undefined) return
  const isLast = at === way.length - 1
  if (step !== each) {
    if (!isObject(value)) return
    if (isLast) call(value, step, false, `${path}/${step}`)
    else follow(value[step], way, at + 1, `${path}/${step}`, call)
  } else if (isLast && isObject(value)) for (const key of Object.keys(value)) call(value, key, true, `${path}/${key}`)
  else for (const [key, item] of Object.entries(value)) follow(item, way, at + 1, `${path}/${key}`, call)
}

/** Bytes that are printed even if there are none tell themselves what they were. */
function waysOf(schema: Schema): readonly Way[] {
  const known = found.get(schema)
  if (known !== undefined) return known
  // What contains itself has no bytes.
  found.set(schema, none)
  const ways: Way[] = []
  if (schema.custom !== true) {
    for (const [name, field] of Object.entries(schema.fields ?? {})) {
      const isBytes = field.schema.format === "byte"
      if (isBytes && field.zero === "omit") ways.push([name])
      if (!isBytes) ways.push(...waysOf(field.schema).map((way): Way => [name, ...way]))
    }
    if (schema.type === "map" && schema.items?.format === "byte") ways.push([each])
    else if (schema.items !== undefined) ways.push(...waysOf(schema.items).map((way): Way => [each, ...way]))
  }
  found.set(schema, ways.length === 0 ? none : ways)
  return found.get(schema) ?? none
}
