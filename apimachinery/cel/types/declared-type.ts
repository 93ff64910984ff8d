// The types that an openAPIV3Schema declares for expressions, with the limits of their sizes, from which costs are estimated.
// Source: k8s.io/apiserver/pkg/cel/common/schemas.go.

import type { Json } from "../../object.ts"
import { isObject, type JsonObject } from "../../schema/json-object.ts"
import type { Range } from "../cost/cost-range.ts"
import type { SizeEstimator } from "../cost/cost.ts"
import type { TypeProvider } from "./environment.ts"
import { escapeIdentifier, isReserved } from "../syntax/identifiers.ts"
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  stringType,
  structType,
  timestampType,
  type Type,
} from "./types.ts"

/** Maximum size of a request in bytes: no value can be larger. */
export const maxRequestBytes = 3 * 1024 * 1024
const maxDurationLength = 32
const maxTimestampLength = 32
const dateLength = 12

export interface DeclaredType {
  kind: "simple" | "list" | "map" | "object"
  /** For a simple type. */
  type: Type
  /** Maximum number of characters, bytes, items or entries; 0 if not applicable. */
  maxElements: number
  /** Minimum size of a value in JSON, in bytes. */
  minSize: number
  /** For an object, by escaped name. */
  fields: ReadonlyMap<string, DeclaredType>
  /** For a list or map. */
  items?: DeclaredType
}

const noFields: ReadonlyMap<string, DeclaredType> = new Map()

function simple(type: Type, minSize: number, maxElements = 0): DeclaredType {
  return { kind: "simple", type, maxElements, minSize, fields: noFields }
}

/** Upstream's estimates treat keys as empty. */
const keyValue = simple(stringType, 2)
function object(fields: readonly [string, DeclaredType][], minSize: number): DeclaredType {
  return { kind: "object", type: dynType, maxElements: 0, minSize, fields: new Map(fields) }
}

/** Undefined if expressions cannot use it. `whole`: it has apiVersion, kind and metadata. */
export function declaredType(schema: JsonObject, whole: boolean): DeclaredType | undefined {
  if (schema["x-kubernetes-int-or-string"] === true) {
    return simple(dynType, 1, maxLengthOf(schema) ?? maxRequestBytes - 2)
  }
  switch (schema["type"]) {
    case "array":
      return declaredList(schema)
    case "object":
      return isObject(schema["additionalProperties"])
        ? declaredMap(schema, schema["additionalProperties"])
        : declaredObject(whole ? wholeObject(schema) : schema)
    case "string":
      return declaredString(schema)
    case "boolean":
      return simple(boolType, 4)
    case "number":
      return simple(doubleType, 1)
    case "integer":
      return simple(intType, 1)
    default:
      return undefined
  }
}

const text: JsonObject = { type: "string" }
const metadata: JsonObject = { type: "object", properties: { name: text, generateName: text } }

/** Adds apiVersion, kind and metadata as expressions may use them, unless the schema has all of them. */
export function wholeObject(schema: JsonObject): JsonObject {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {}
  const own = properties["metadata"]
  const names = isObject(own) && own["type"] === "object" && isObject(own["properties"]) ? own["properties"] : {}
  const isText = (property: Json | undefined): boolean =>
    property !== undefined && isObject(property) && property["type"] === "string"
  const needed = [properties["kind"], properties["apiVersion"], names["name"], names["generateName"]]
  return needed.every(isText)
    ? schema
    : { ...schema, properties: { ...properties, kind: text, apiVersion: text, metadata } }
}

function isEmbedded(schema: JsonObject): boolean {
  return schema["x-kubernetes-embedded-resource"] === true
}

function count(value: Json | undefined): number | undefined {
  return typeof value === "number" ? Math.max(0, value) : undefined
}

/** A character takes up to four bytes. */
function maxLengthOf(schema: JsonObject): number | undefined {
  const length = count(schema["maxLength"])
  return length === undefined ? undefined : length * 4
}

function declaredList(schema: JsonObject): DeclaredType | undefined {
  const items = isObject(schema["items"]) ? declaredType(schema["items"], isEmbedded(schema["items"])) : undefined
  if (items === undefined) return undefined
  const maxElements = count(schema["maxItems"]) ?? Math.trunc((maxRequestBytes - 2) / (items.minSize + 1))
  return { kind: "list", type: dynType, maxElements, minSize: 2, fields: noFields, items }
}

function declaredMap(schema: JsonObject, values: JsonObject): DeclaredType | undefined {
  const items = declaredType(values, isEmbedded(values))
  if (items === undefined) return undefined
  const maxElements = count(schema["maxProperties"]) ?? Math.trunc((maxRequestBytes - 2) / (items.minSize + 6))
  return { kind: "map", type: dynType, maxElements, minSize: 2, fields: noFields, items }
}

function declaredObject(schema: JsonObject): DeclaredType {
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : [])
  const fields: [string, DeclaredType][] = []
  let minSize = 2
  for (const [name, property] of Object.entries(isObject(schema["properties"]) ? schema["properties"] : {})) {
    const type = isObject(property) ? declaredType(property, isEmbedded(property)) : undefined
    if (type === undefined || !isObject(property)) continue
    const escaped = escapeIdentifier(name)
    if (escaped !== undefined) fields.push([escaped, type])
    const hasDefault = property["default"] !== undefined && property["default"] !== null
    if (required.has(name) && !hasDefault) minSize += Buffer.byteLength(name) + type.minSize + 4
  }
  return object(fields, minSize)
}

function declaredString(schema: JsonObject): DeclaredType {
  switch (schema["format"]) {
    case "byte":
      return simple(bytesType, 2, count(schema["maxLength"]) ?? maxRequestBytes - 2)
    case "duration":
      return simple(durationType, 3, maxDurationLength)
    case "date":
      return simple(timestampType, dateLength, dateLength)
    case "date-time":
      return simple(timestampType, 21, maxTimestampLength)
    default:
      return simple(stringType, 2, maxLengthOf(schema) ?? enumLength(schema) ?? maxRequestBytes - 2)
  }
}

function enumLength(schema: JsonObject): number | undefined {
  const values = schema["enum"]
  if (!Array.isArray(values) || values.length === 0) return undefined
  return Math.max(0, ...values.map((value) => (typeof value === "string" ? Buffer.byteLength(value) : 0)))
}

/** Objects have no names in a schema: they are named by their path below the name of the root. */
export function typeOfDeclared(declared: DeclaredType, path: string): Type {
  switch (declared.kind) {
    case "object":
      return structType(path)
    case "list":
      return listType(declared.items === undefined ? dynType : typeOfDeclared(declared.items, `${path}.@idx`))
    case "map":
      return mapType(
        stringType,
        declared.items === undefined ? dynType : typeOfDeclared(declared.items, `${path}.@elem`),
      )
    default:
      return declared.type
  }
}

/** The fields of the types below these roots, by name of the root. */
export function declaredTypes(roots: ReadonlyMap<string, DeclaredType>): TypeProvider {
  const find = (name: string): DeclaredType | undefined => {
    const [root = "", ...path] = name.split(".")
    let at = roots.get(root)
    for (const step of path) at = step === "@idx" || step === "@elem" ? at?.items : at?.fields.get(step)
    return at?.kind === "object" ? at : undefined
  }
  return {
    has: (name) => find(name) !== undefined,
    field(name, field) {
      const fields = find(name)?.fields
      const escaped = isReserved(field) && fields?.has(field) === false ? (escapeIdentifier(field) ?? field) : field
      const declared = fields?.get(escaped)
      return declared && typeOfDeclared(declared, `${name}.${escaped}`)
    },
  }
}

/** Sizes of the values below a variable of that type, for any variable. */
export function sizesOf(root: DeclaredType): SizeEstimator {
  return {
    sizeOf(path): Range | undefined {
      if (path.length === 0) return undefined
      let at: DeclaredType | undefined = root
      for (const step of path.slice(1)) {
        if (step === "@items" || step === "@values") at = at?.items
        else if (step === "@keys") at = at?.kind === "map" ? keyValue : undefined
        else at = at?.fields.get(step)
      }
      return at && { min: 0, max: at.maxElements }
    },
  }
}
