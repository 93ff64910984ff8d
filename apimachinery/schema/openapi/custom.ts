// A custom resource's own schema as it is published, in the two versions' dialects. Source:
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
  // Whatever properties are named, kubectl would take the others for unknown.
  if (dialect === "v2" && isObject(source) && source[preserve] === true) return { type: "object" }
  const schema = withEmbedded(dialect === "v3" ? structuredClone(source) : forVersion2(source), dialect, objectMeta)
  const published = isObject(schema) ? schema : {}
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...own } = propertiesOf(published)
  return {
    ...published,
    type: "object",
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

/** Where a field selector may point. */
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

/** Objects within objects have the fields of every object. */
function withEmbedded(schema: Json, dialect: Dialect, objectMeta: JsonObject): Json {
  if (!isObject(schema)) return schema
  const result: JsonObject = { ...schema }
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

/** Keywords that version 2 lacks, or that clients of it take for more than they say. */
const dropped = new Set(["allOf", "anyOf", "oneOf", "not", "nullable", "default"])

function forVersion2(source: Json): Json {
  if (!isObject(source)) return source
  const result: JsonObject = {}
  const free = source[preserve] === true || source["nullable"] === true
  for (const [keyword, value] of Object.entries(source)) {
    if (dropped.has(keyword)) continue
    if (free && ["type", "properties", "items", "required", "additionalProperties"].includes(keyword)) continue
    if (source["x-kubernetes-int-or-string"] === true && keyword === "type") continue
    if (keyword === "properties" && isObject(value)) {
      result[keyword] = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, forVersion2(inner)]))
    } else if (keyword === "items" || keyword === "additionalProperties") result[keyword] = forVersion2(value)
    else result[keyword] = value
  }
  return result
}
