// The fields of a kind, and objects with a value in one of them.

import type { Json } from "../../../../apimachinery/object.ts"
import { isObject } from "../../../../apimachinery/schema/json-object.ts"
import type { FieldSchema, Schema } from "../../../../apimachinery/schema/schema.ts"
import type { JsonObject } from "./objects.ts"
import { sampleOfType } from "./samples.ts"

/** A string is a field or a map's key, a number an item. */
export type FieldPath = readonly (string | number)[]

export interface Field {
  path: FieldPath
  schema: Schema
  field: FieldSchema
}

interface WalkOptions {
  /** Types whose fields are not visited, because another scenario tests them. */
  except?: readonly string[]
  maxDepth?: number
}

/** Visits the fields of each type once: at further occurrences only the field itself is included. */
export function fieldsOf(schema: Schema, root: FieldPath, options: WalkOptions = {}): Field[] {
  const seen = new Set(options.except)
  const { maxDepth = 12 } = options
  const walk = (type: Schema, path: FieldPath): Field[] => {
    if (type.type === "list") return type.items === undefined ? [] : walk(type.items, [...path, 0])
    if (type.type === "map") return type.items?.type === "object" ? walk(type.items, [...path, "key"]) : []
    if (type.fields === undefined || path.length > maxDepth) return []
    const name = shortName(type)
    if (name !== "" && seen.has(name)) return []
    seen.add(name)
    return Object.entries(type.fields).flatMap(([key, field]) => {
      const at = [...path, key]
      return [{ path: at, schema: field.schema, field }, ...walk(field.schema, at)]
    })
  }
  return walk(schema, root)
}

/** "io.k8s.api.core.v1.PodSpec" → "PodSpec". */
export function shortName(schema: Schema): string {
  return schema.name?.split(".").at(-1) ?? ""
}

export function printPath(path: FieldPath): string {
  return path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("")
    .replace(/^\./, "")
}

/** A copy of the object with the value at the path; missing parents are created, valid as far as samples.ts provides for them. */
export function withValue(object: JsonObject, schema: Schema, path: FieldPath, value: Json): JsonObject {
  return put(object, schema, path, value) as JsonObject
}

function put(current: Json | undefined, schema: Schema | undefined, path: FieldPath, value: Json): Json {
  const [step, ...rest] = path
  if (step === undefined) return value
  if (typeof step === "number") {
    const list = Array.isArray(current) ? [...current] : []
    list[step] = put(list[step] ?? sampleOf(schema?.items), schema?.items, rest, value)
    return list
  }
  const base = isObject(current) ? current : sampleOf(schema)
  const inner = schema?.fields?.[step]?.schema ?? schema?.items
  return { ...base, [step]: put(base[step], inner, rest, value) }
}

function sampleOf(schema: Schema | undefined): JsonObject {
  return schema === undefined ? {} : sampleOfType(shortName(schema))
}
