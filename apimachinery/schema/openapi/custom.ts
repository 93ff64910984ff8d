// The published form of a custom resource's schema, in the dialects of both versions. Source:
// k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder and …/openapi/v2.

import type { Json } from "../../object.ts"
import { isObject, type JsonObject } from "../json-object.ts"
import type { Dialect } from "./schemas.ts"

const conventions = "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"
const embedded = {
  apiVersion: `apiVersion defines the versioned schema of this representation of an object. ${conventions}#resources`,
  kind: `kind is a string value representing the type of this object. In CamelCase. ${conventions}#types-kinds`,
}
const metadataWords = `Standard object's metadata. ${conventions}#metadata`
const preserve = "x-kubernetes-preserve-unknown-fields"

export function customSchema(
  source: Json,
  dialect: Dialect,
  objectMeta: JsonObject,
  commonField: (name: "apiVersion" | "kind") => JsonObject,
): JsonObject {
  // Even with named properties, since kubectl would treat all others as unknown.
  if (dialect === "v2" && isObject(source) && source[preserve] === true) return { type: "object" }
  const schema = withEmbedded(dialect === "v3" ? structuredClone(source) : forVersion2(source), dialect, objectMeta)
  const published = isObject(schema) ? schema : {}
  // Its fields are described as those of an object within another.
  if (published["x-kubernetes-embedded-resource"] === true) return published
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...own } = propertiesOf(published)
  return {
    ...published,
    properties: {
      apiVersion: { ...commonField("apiVersion"), type: "string" },
      kind: { ...commonField("kind"), type: "string" },
      metadata: metadataOf(dialect, objectMeta),
      ...own,
    },
  }
}

export function customListFields(plural: string): { items: JsonObject; metadata: JsonObject } {
  return {
    items: { description: `List of ${plural}. ${conventions}` },
    metadata: { description: `Standard list metadata. ${conventions}#types-kinds` },
  }
}

/** The fields that field selectors may use. */
export function selectableExtension(fields: readonly string[] = []): JsonObject {
  if (fields.length === 0) return {}
  return { "x-kubernetes-selectable-fields": fields.map((fieldPath) => ({ fieldPath })) }
}

function propertiesOf({ properties }: JsonObject): JsonObject {
  return isObject(properties) ? properties : {}
}

function metadataOf(dialect: Dialect, objectMeta: JsonObject): JsonObject {
  return { description: metadataWords, ...(dialect === "v3" ? { allOf: [objectMeta] } : objectMeta) }
}

/** Embedded objects have the standard fields of every object. */
function withEmbedded(schema: Json, dialect: Dialect, objectMeta: JsonObject): Json {
  if (!isObject(schema)) return schema
  const result = dialect === "v3" ? unfolded({ ...schema }) : { ...schema }
  if (isUnpublished(result["example"])) delete result["example"]
  const properties = propertiesOf(schema)
  for (const [name, property] of Object.entries(properties)) {
    properties[name] = withEmbedded(property, dialect, objectMeta)
  }
  for (const key of ["items", "additionalProperties"]) {
    if (schema[key] !== undefined) result[key] = withEmbedded(schema[key], dialect, objectMeta)
  }
  if (schema["x-kubernetes-embedded-resource"] !== true) return result
  if (dialect === "v2" && schema[preserve] === true) return result
  const required = Array.isArray(schema["required"]) ? schema["required"] : []
  return {
    ...result,
    required: [...required, ...["kind", "apiVersion"].filter((name) => !required.includes(name))],
    properties: {
      ...properties,
      apiVersion: { description: embedded.apiVersion, type: "string" },
      kind: { description: embedded.kind, type: "string" },
      metadata: metadataOf(dialect, objectMeta),
    },
  }
}

/** Empty examples are not published. */
export function isUnpublished(example: Json | undefined): boolean {
  if (example === null || example === "") return true
  return typeof example === "object" && Object.keys(example).length === 0
}

const intOrString: Json = [{ type: "integer" }, { type: "string" }]

/** Replaces x-kubernetes-int-or-string by standard keywords. */
function unfolded(schema: JsonObject): JsonObject {
  if (schema["x-kubernetes-int-or-string"] !== true || isIntOrString(schema)) return schema
  const allOf = Array.isArray(schema["allOf"]) ? schema["allOf"] : []
  const [first] = allOf
  if (isObject(first) && isIntOrString(first)) return schema
  if (schema["anyOf"] === undefined) return { ...schema, anyOf: intOrString }
  return { ...schema, allOf: [{ anyOf: intOrString }, ...allOf] }
}

function isIntOrString({ anyOf }: JsonObject): boolean {
  const types = Array.isArray(anyOf) ? anyOf.map((one) => (isObject(one) ? one["type"] : undefined)) : []
  return types.length === 2 && types[0] === "integer" && types[1] === "string"
}

/** Keywords that version 2 does not have, or that its clients interpret too strictly. */
const dropped = new Set(["allOf", "anyOf", "oneOf", "not", "nullable", "default"])

/** kubectl rejects objects and lists whose properties or items it does not know, so these are published without a type. */
function forVersion2(source: Json): Json {
  if (!isObject(source)) return source
  const free = source[preserve] === true || source["nullable"] === true
  const untyped =
    source["nullable"] === true ||
    (source[preserve] === true && source["type"] === "object") ||
    (source["type"] === "array" && (free || source["items"] === undefined))
  const result: JsonObject = {}
  for (const [keyword, value] of Object.entries(source)) {
    if (dropped.has(keyword) || (keyword === "type" && untyped)) continue
    if (keyword === "properties" && isObject(value)) {
      if (!free) result[keyword] = mapValues(value, forVersion2)
    } else if (keyword === "items") {
      if (!free) result[keyword] = forVersion2(value)
    } else if (keyword === "additionalProperties") result[keyword] = forVersion2(value)
    else if (keyword === "required") {
      const required = requiredInVersion2(source)
      if (required.length > 0) result[keyword] = required
    } else result[keyword] = wholeBounds.has(keyword) ? value : withoutExactIntegers(value)
  }
  return result
}

/** Of keywords that Go has as integers. */
const wholeBounds = new Set(["maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties"])

/** Upstream parses the document again when it merges documents, which makes numbers of any value doubles. */
function withoutExactIntegers(value: Json): Json {
  if (typeof value === "bigint") return Number(value)
  if (Array.isArray(value)) return value.map(withoutExactIntegers)
  return isObject(value) ? mapValues(value, withoutExactIntegers) : value
}

/** Nullable fields are not required. */
function requiredInVersion2({ required, properties, additionalProperties, ...source }: JsonObject): Json[] {
  const isNullable = (schema: Json | undefined): boolean => isObject(schema) && schema["nullable"] === true
  if (isNullable(additionalProperties)) return []
  const known = isObject(properties) && source["nullable"] !== true && source[preserve] !== true ? properties : {}
  return (Array.isArray(required) ? required : []).filter(
    (name) => typeof name !== "string" || !isNullable(known[name]),
  )
}

function mapValues(object: JsonObject, change: (value: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]))
}
