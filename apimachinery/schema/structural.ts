// From a CustomResourceDefinition's openAPIV3Schema to a Schema, refusing what is not structural. Field errors have
// upstream's words. Source: k8s.io/apiextensions-apiserver/pkg/apiserver/schema and pkg/apis/apiextensions/validation.

import { FieldPath, forbiddenField, invalidValue, notSupported, required } from "../field-errors.ts"
import type { FieldError } from "../field-errors.ts"
import type { Json } from "../object.ts"
import { isObject, type JsonObject } from "./json-object.ts"
import { compileSchema } from "./structural-compile.ts"
import { defaultErrors } from "./structural-defaults.ts"
import { checkListType } from "./structural-lists.ts"
import { patternError } from "./patterns.ts"
import type { Schema } from "./schema.ts"

/** The schema of what may be anything; what a broken one is compiled to. */
const anything: Schema = { type: "any", custom: true, preserveUnknown: true }

/** `path`: of the openAPIV3Schema in the definition. With errors, `schema` must not be used. */
export function compileStructural(
  openAPIV3Schema: Json,
  path: FieldPath = FieldPath.root(),
): { schema: Schema; errors: FieldError[] } {
  if (!isObject(openAPIV3Schema)) return { schema: anything, errors: [required(path, "must be an object")] }
  const errors = [...rootErrors(openAPIV3Schema, path), ...nodeErrors(openAPIV3Schema, path, "root")]
  if (errors.length > 0) return { schema: anything, errors }
  const schema = compileSchema(openAPIV3Schema)
  const root: Schema = { ...schema, custom: true, source: openAPIV3Schema }
  return { schema: root, errors: defaultErrors(openAPIV3Schema, root, path) }
}

function rootErrors(schema: JsonObject, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const type = schema["type"]
  if (type === undefined || type === "") {
    if (schema["x-kubernetes-int-or-string"] !== true) {
      errors.push(required(path.child("type"), "must not be empty at the root"))
    }
  } else if (type !== "object") errors.push(invalidValue(path.child("type"), type, "must be object at the root"))
  if (schema["nullable"] === true) {
    errors.push(forbiddenField(path.child("nullable"), "nullable cannot be true at the root"))
  }
  if (schema["additionalProperties"] !== undefined) {
    errors.push(forbiddenField(path.child("additionalProperties"), "must not be used at the root"))
  }
  return [...errors, ...objectFieldErrors(schema, path, true)]
}

/** What a schema may say of apiVersion, kind and metadata of a whole object. */
function objectFieldErrors(schema: JsonObject, path: FieldPath, root: boolean): FieldError[] {
  const errors: FieldError[] = []
  const properties = isObject(schema["properties"]) ? schema["properties"] : {}
  for (const [name, type] of [
    ["apiVersion", "string"],
    ["kind", "string"],
    ["metadata", "object"],
  ] as const) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (!isObject(property)) continue
    const at = path.child("properties").key(name)
    if (property["type"] !== type)
      errors.push(invalidValue(at.child("type"), property["type"] ?? "", `must be ${type}`))
    if (name === "metadata" && root) errors.push(...metadataErrors(property, at))
  }
  return errors
}

function metadataErrors(metadata: JsonObject, path: FieldPath): FieldError[] {
  if (metadata["default"] !== undefined) {
    return [forbiddenField(path.child("default"), "must not be set in top-level metadata")]
  }
  const allowed = new Set(["type", "description", "properties"])
  const named = isObject(metadata["properties"]) ? Object.keys(metadata["properties"]) : []
  const plain =
    Object.keys(metadata).every((key) => allowed.has(key)) &&
    named.every((name) => name === "name" || name === "generateName")
  const detail = "must not specify anything other than name and generateName, but metadata is implicitly specified"
  return plain ? [] : [forbiddenField(path, detail)]
}

/** Where a schema stands: it decides what may and must be in it. */
type Place = "root" | "property" | "items" | "value"

const types = ["array", "boolean", "integer", "number", "object", "string"]
const unsupported = ["$ref", "definitions", "dependencies", "patternProperties", "additionalItems", "id", "$schema"]

function nodeErrors(schema: JsonObject, path: FieldPath, place: Place): FieldError[] {
  const errors: FieldError[] = []
  for (const keyword of unsupported) {
    if (schema[keyword] !== undefined && schema[keyword] !== null) {
      errors.push(forbiddenField(path.child(keyword), `${keyword} is not supported`))
    }
  }
  errors.push(...typeErrors(schema, path, place), ...extensionErrors(schema, path), ...checkListType(schema, path))
  if (place !== "root" && schema["x-kubernetes-embedded-resource"] === true) {
    errors.push(...objectFieldErrors(schema, path, false))
  }
  if (schema["uniqueItems"] === true) {
    const detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
    errors.push(forbiddenField(path.child("uniqueItems"), detail))
  }
  if (typeof schema["pattern"] === "string" && schema["pattern"] !== "") {
    const fault = patternError(schema["pattern"])
    if (fault !== undefined) {
      const detail = `must be a valid regular expression, but isn't: ${fault}`
      errors.push(invalidValue(path.child("pattern"), schema["pattern"], detail))
    }
  }
  return [...errors, ...childErrors(schema, path), ...valueErrors(schema, path)]
}

function typeErrors(schema: JsonObject, path: FieldPath, place: Place): FieldError[] {
  const errors: FieldError[] = []
  const type = schema["type"]
  const at = path.child("type")
  const free = schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true
  if (type === undefined || type === "") {
    if (place === "property" && !free) errors.push(required(at, "must not be empty for specified object fields"))
    if (place === "items" && !free) errors.push(required(at, "must not be empty for specified array items"))
  } else if (typeof type !== "string" || !types.includes(type)) errors.push(notSupported(at, type, types))
  if (type === "array" && schema["items"] === undefined) {
    errors.push(required(path.child("items"), "must be specified"))
  }
  return errors
}

function extensionErrors(schema: JsonObject, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
    const at = path.child("x-kubernetes-preserve-unknown-fields")
    errors.push(invalidValue(at, false, "must be true or undefined"))
  }
  if (schema["x-kubernetes-embedded-resource"] === true) {
    const properties = isObject(schema["properties"]) ? Object.keys(schema["properties"]) : []
    if (properties.length === 0 && schema["x-kubernetes-preserve-unknown-fields"] !== true) {
      const detail =
        "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"
      errors.push(required(path.child("properties"), detail))
    }
    if (schema["type"] !== "object") {
      const detail = "must be object if x-kubernetes-embedded-resource is true"
      errors.push(invalidValue(path.child("type"), schema["type"] ?? "", detail))
    }
  }
  const mapType = schema["x-kubernetes-map-type"]
  if (mapType !== undefined) {
    const allowed = ["atomic", "granular"]
    if (typeof mapType !== "string" || !allowed.includes(mapType)) {
      errors.push(notSupported(path.child("x-kubernetes-map-type"), mapType, allowed))
    }
    if (schema["type"] !== "object") {
      const detail = "must be object if x-kubernetes-map-type is specified"
      errors.push(invalidValue(path.child("type"), schema["type"] ?? "", detail))
    }
  }
  return errors
}

function childErrors(schema: JsonObject, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const { properties, additionalProperties, items } = schema
  if (isObject(properties)) {
    for (const [name, property] of sorted(properties)) {
      errors.push(...subschemaErrors(property, path.child("properties").key(name), "property"))
    }
  }
  if (additionalProperties !== undefined && additionalProperties !== null) {
    const at = path.child("additionalProperties")
    if (isObject(properties) && Object.keys(properties).length > 0 && additionalProperties !== false) {
      errors.push(forbiddenField(at, "additionalProperties and properties are mutual exclusive"))
    }
    if (typeof additionalProperties !== "boolean") errors.push(...subschemaErrors(additionalProperties, at, "property"))
  }
  if (items !== undefined && items !== null) {
    const at = path.child("items")
    if (Array.isArray(items)) errors.push(forbiddenField(at, "items must be a schema object and not an array"))
    else errors.push(...subschemaErrors(items, at, "items"))
  }
  return errors
}

function subschemaErrors(schema: Json | undefined, path: FieldPath, place: Place): FieldError[] {
  return isObject(schema) ? nodeErrors(schema, path, place) : [required(path.child("type"), "must be a schema object")]
}

function sorted(object: JsonObject): [string, Json][] {
  return Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1))
}

/** What allOf, anyOf, oneOf and not may not say: structure belongs into the schema proper. */
const notInValue: readonly [string, string][] = [
  ["additionalProperties", "must be undefined to be structural"],
  ["default", "must be undefined to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
  ["title", "must be empty to be structural"],
  ["type", "must be empty to be structural"],
  ["x-kubernetes-embedded-resource", "must be false to be structural"],
  ["x-kubernetes-int-or-string", "must be false to be structural"],
  ["x-kubernetes-list-map-keys", "must be empty to be structural"],
  ["x-kubernetes-list-type", "must be undefined to be structural"],
  ["x-kubernetes-map-type", "must be undefined to be structural"],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
  ["x-kubernetes-validations", "must be empty to be structural"],
]

function valueErrors(schema: JsonObject, path: FieldPath): FieldError[] {
  if (schema["x-kubernetes-int-or-string"] === true && isIntOrStringAnyOf(schema)) return []
  return junctors(schema, path).flatMap(([inner, at]) => valueNodeErrors(inner, at))
}

function junctors(schema: JsonObject, path: FieldPath): [JsonObject, FieldPath][] {
  const found: [JsonObject, FieldPath][] = []
  for (const junctor of ["allOf", "anyOf", "oneOf"]) {
    const list = schema[junctor]
    if (!Array.isArray(list)) continue
    for (const [index, inner] of list.entries())
      if (isObject(inner)) found.push([inner, path.child(junctor).index(index)])
  }
  if (isObject(schema["not"])) found.push([schema["not"], path.child("not")])
  return found
}

/** The two forms in which int-or-string may repeat itself: anyOf, or anyOf as the first of allOf. */
function isIntOrStringAnyOf(schema: JsonObject): boolean {
  const first = Array.isArray(schema["allOf"]) ? schema["allOf"][0] : undefined
  const alternatives = schema["anyOf"] ?? (isObject(first) ? first["anyOf"] : undefined)
  return JSON.stringify(alternatives) === '[{"type":"integer"},{"type":"string"}]'
}

function valueNodeErrors(schema: JsonObject, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  for (const [keyword, detail] of notInValue) {
    const value = schema[keyword]
    const given = value !== undefined && value !== null && value !== "" && value !== false
    if (given) errors.push(forbiddenField(path.child(keyword), detail))
  }
  if (typeof schema["pattern"] === "string") {
    const fault = patternError(schema["pattern"])
    if (fault !== undefined) {
      const detail = `must be a valid regular expression, but isn't: ${fault}`
      errors.push(invalidValue(path.child("pattern"), schema["pattern"], detail))
    }
  }
  if (isObject(schema["properties"])) {
    for (const [name, property] of sorted(schema["properties"])) {
      if (isObject(property)) errors.push(...valueNodeErrors(property, path.child("properties").key(name)))
    }
  }
  if (isObject(schema["items"])) errors.push(...valueNodeErrors(schema["items"], path.child("items")))
  return [...errors, ...junctors(schema, path).flatMap(([inner, at]) => valueNodeErrors(inner, at))]
}
