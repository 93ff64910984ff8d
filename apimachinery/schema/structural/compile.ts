// Translates an openAPIV3Schema that has been found structural into a Schema.

import type { Json } from "../../object.ts"
import { isObject, type JsonObject } from "../json-object.ts"
import { isFormatOf } from "../formats.ts"
import type { FieldSchema, Schema, SchemaRules, SchemaType } from "../schema.ts"

const anything: Schema = { type: "any", nullable: true }

export function compileSchema(source: JsonObject): Schema {
  const schema: Schema = { type: typeOf(source) }
  const { type, properties, additionalProperties, items } = source
  if (schema.type === "any" && typeof type === "string" && type !== "") schema.unknownType = type
  if (isObject(properties) || schema.type === "object") schema.fields = compileFields(properties)
  if (schema.type === "map") {
    schema.items = isObject(additionalProperties) ? compileSchema(additionalProperties) : anything
  } else {
    if (isObject(items)) schema.items = compileSchema(items)
    const more = compileMore(additionalProperties)
    if (more !== undefined) schema.more = more
  }
  const { format } = source
  if (typeof format === "string" && format !== "") {
    schema.format = format
    if (!isFormatOf(schema.type === "intOrString" ? "" : type, format)) schema.formatMeansNothing = true
  }
  if (Array.isArray(source["required"])) schema.required = source["required"] as string[]
  if (source["default"] !== undefined && source["default"] !== null) schema.default = source["default"]
  if (source["nullable"] === true) schema.nullable = true
  if (source["x-kubernetes-preserve-unknown-fields"] === true) schema.preserveUnknown = true
  if (source["x-kubernetes-embedded-resource"] === true) schema.embedded = true
  const listType = source["x-kubernetes-list-type"]
  if (typeof listType === "string") schema.listType = listType as "atomic" | "set" | "map"
  const keys = source["x-kubernetes-list-map-keys"]
  if (Array.isArray(keys)) schema.listMapKeys = keys as string[]
  const mapType = source["x-kubernetes-map-type"]
  if (typeof mapType === "string") schema.mapType = mapType as "atomic" | "granular"
  const rules = compileRules(source)
  if (rules !== undefined) schema.rules = rules
  return schema
}

function compileMore(additionalProperties: Json | undefined): Schema | "none" | undefined {
  if (additionalProperties === false) return "none"
  if (additionalProperties === true) return anything
  return isObject(additionalProperties) ? compileSchema(additionalProperties) : undefined
}

function compileFields(properties: Json | undefined): Record<string, FieldSchema> {
  // Without a prototype, because a field may be named "constructor".
  const fields = Object.create(null) as Record<string, FieldSchema>
  if (!isObject(properties)) return fields
  for (const [name, property] of Object.entries(properties)) {
    if (isObject(property)) fields[name] = { schema: compileSchema(property) }
  }
  return fields
}

function typeOf(source: JsonObject): SchemaType {
  if (source["x-kubernetes-int-or-string"] === true) return "intOrString"
  switch (source["type"]) {
    case "object": {
      const { properties, additionalProperties } = source
      const named = isObject(properties) && Object.keys(properties).length > 0
      return !named && (isObject(additionalProperties) || additionalProperties === true) ? "map" : "object"
    }
    case "array":
      return "list"
    case "string":
    case "integer":
    case "number":
    case "boolean":
      return source["type"]
    default:
      return "any"
  }
}

const numbers = ["minimum", "maximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems"] as const
const counts = ["minProperties", "maxProperties"] as const
const flags = ["exclusiveMinimum", "exclusiveMaximum"] as const
const lists = ["allOf", "anyOf", "oneOf"] as const

function compileRules(source: JsonObject): SchemaRules | undefined {
  const rules: SchemaRules = {}
  for (const name of [...numbers, ...counts]) {
    const value = source[name]
    if (typeof value === "number" || typeof value === "bigint") rules[name] = Number(value)
  }
  for (const name of flags) if (source[name] === true) rules[name] = true
  for (const name of lists) {
    const value = source[name]
    if (Array.isArray(value)) rules[name] = value.filter(isObject).map(compileSchema)
  }
  if (isObject(source["not"])) rules.not = compileSchema(source["not"])
  if (Array.isArray(source["enum"])) rules.enum = source["enum"]
  if (typeof source["pattern"] === "string" && source["pattern"] !== "") rules.pattern = source["pattern"]
  return Object.keys(rules).length === 0 ? undefined : rules
}
