// Checks that a schema has a structure that pruning and defaulting can follow: types at every level, and no structure in parts
// that only validate. Errors are reported in alphabetical order. Source:
// k8s.io/apiextensions-apiserver/pkg/apiserver/schema/{validation,complete}.go.

import { forbiddenField, invalidValue, required } from "../../field-errors.ts"
import type { FieldError, FieldPath } from "../../field-errors.ts"
import type { Json } from "../../object.ts"
import { isGivenEmpty } from "../decode/given.ts"
import { isObject, type JsonObject } from "../json-object.ts"
import type { Steps } from "../../steps.ts"
import { patternError } from "../regular-expressions/patterns.ts"

/** Requirements depend on the position of a schema; the messages are those for a missing type. */
const missingType = {
  root: "must not be empty at the root",
  items: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
}
type Place = keyof typeof missingType

/** A step compiles one pattern. */
export function* checkingForm(schema: JsonObject, path: FieldPath): Steps<FieldError[]> {
  const patterns: Pattern[] = []
  const errors = [...nodeErrors(schema, path, "root", patterns), ...completeness(schema, schema, path, path)]
  for (const { pattern, holder } of patterns) {
    yield
    const fault = patternError(pattern)
    const detail = `must be a valid regular expression, but isn't: ${fault ?? ""}`
    if (fault !== undefined) errors.push(invalidValue(holder.child("pattern"), pattern, detail))
  }
  yield
  return errors
    .map((error) => [error.message(), error] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, error]) => error)
}

interface Pattern {
  pattern: string
  /** The path of the schema that has it. */
  holder: FieldPath
}

/** Patterns are not checked, but added to the given ones. */
function nodeErrors(schema: JsonObject, path: FieldPath, place: Place, patterns: Pattern[]): FieldError[] {
  const { items, additionalProperties: more } = schema
  const errors: FieldError[] = []
  if (schema["type"] === "array" && !isObject(items)) errors.push(required(path.child("items"), "must be specified"))
  if (isObject(items)) errors.push(...nodeErrors(items, path.child("items"), "items", patterns))
  for (const [name, property] of fieldsOf(schema)) {
    errors.push(...nodeErrors(property, path.child("properties").key(name), "field", patterns))
  }
  if (more !== undefined && more !== null) {
    const at = path.child("additionalProperties")
    if (place === "root") errors.push(forbiddenField(at, "must not be used at the root"))
    if (isObject(more)) errors.push(...nodeErrors(more, at, "field", patterns))
  }
  return [
    ...errors,
    ...intOrStringErrors(schema, path),
    ...valueErrors(schema, path, patterns, isIntOrString(schema["anyOf"]), isIntOrStringAllOf(schema)),
    ...typeErrors(schema, path, place),
    ...objectErrors(schema, path, place === "root"),
  ]
}

function fieldsOf({ properties }: JsonObject): [string, JsonObject][] {
  if (properties === undefined || !isObject(properties)) return []
  return Object.entries(properties)
    .filter((entry): entry is [string, JsonObject] => isObject(entry[1]))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
}

function intOrStringErrors(schema: JsonObject, path: FieldPath): FieldError[] {
  if (schema["x-kubernetes-int-or-string"] !== true) return []
  return ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"]
    .filter((keyword) => schema[keyword] === true)
    .map((keyword) => invalidValue(path.child(keyword), true, "must be false if x-kubernetes-int-or-string is true"))
}

function typeErrors(schema: JsonObject, path: FieldPath, place: Place): FieldError[] {
  const { type = "", additionalProperties: more, properties } = schema
  const at = path.child("type")
  const isFree =
    schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true
  const errors: FieldError[] = []
  if (schema["x-kubernetes-embedded-resource"] === true) {
    const detail = "must be object if x-kubernetes-embedded-resource is true"
    if (type !== "object") errors.push(type === "" ? required(at, detail) : invalidValue(at, type, detail))
    if (more !== undefined && more !== null) {
      const because = "must not be used if x-kubernetes-embedded-resource is set"
      errors.push(forbiddenField(path.child("additionalProperties"), because))
    }
    if (schema["x-kubernetes-preserve-unknown-fields"] !== true && !isNonEmpty(properties)) {
      const because =
        "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"
      errors.push(required(path.child("properties"), because))
    }
  } else if (type === "" && !isFree) errors.push(required(at, missingType[place]))
  if (place === "root" && type !== "" && type !== "object") {
    errors.push(invalidValue(at, type, "must be object at the root"))
  }
  return errors
}

/** What a schema may specify for apiVersion, kind and metadata of a complete object. */
function objectErrors(schema: JsonObject, path: FieldPath, isRoot: boolean): FieldError[] {
  if (!isRoot && schema["x-kubernetes-embedded-resource"] !== true) return []
  const properties = new Map(fieldsOf(schema))
  const wanted = { kind: "string", apiVersion: "string", metadata: "object" }
  const errors = Object.entries(wanted).flatMap(([name, type]) => {
    const given = properties.get(name)?.["type"] ?? ""
    const at = path.child("properties").key(name).child("type")
    return !properties.has(name) || given === type ? [] : [invalidValue(at, given, `must be ${type}`)]
  })
  const metadata = properties.get("metadata")
  if (!isRoot || metadata === undefined || isPlainMetadata(metadata)) return errors
  const detail = "must not specify anything other than name and generateName, but metadata is implicitly specified"
  return [...errors, forbiddenField(path.child("properties").key("metadata"), detail)]
}

/** Defaults are reported elsewhere. */
const inMetadata: ReadonlySet<string> = new Set(["type", "properties", "default"])

function isPlainMetadata(metadata: JsonObject): boolean {
  const { properties } = metadata
  const named = properties !== undefined && isObject(properties) ? Object.keys(properties) : []
  return (
    Object.keys(metadata).every((key) => inMetadata.has(key)) &&
    !saysNothing(keptLists, metadata) &&
    named.every((name) => name === "name" || name === "generateName")
  )
}

/** "integer" or "string", in this order: the form that may accompany int-or-string, and that any schema may have. */
function isIntOrString(alternatives: Json | undefined): boolean {
  const types = ["integer", "string"]
  if (!Array.isArray(alternatives) || alternatives.length !== types.length) return false
  return alternatives.every((one, index) => isObject(one) && hasOnlyType(one, types[index]))
}

function hasOnlyType(schema: JsonObject, type: string | undefined): boolean {
  // That there are no additional properties is not kept in what may only validate.
  const given = Object.keys(schema).filter((key) => key !== "additionalProperties" || schema[key] !== false)
  return given.length === 1 && schema["type"] === type && !saysNothing([...keptLists, "properties"], schema)
}

/** Empty ones count as well, unlike others. */
const keptLists = ["required", "x-kubernetes-list-map-keys", "x-kubernetes-validations"]

function saysNothing(keywords: readonly string[], schema: JsonObject): boolean {
  return keywords.some((keyword) => isGivenEmpty(schema, keyword))
}

/** The other form: in the first item of allOf. */
function isIntOrStringAllOf(schema: JsonObject): boolean {
  const first = listOf(schema, "allOf")[0]
  return first !== undefined && isIntOrString(first["anyOf"])
}

function listOf(schema: JsonObject, junctor: string): JsonObject[] {
  const list = schema[junctor]
  return Array.isArray(list) ? list.filter((inner): inner is JsonObject => isObject(inner)) : []
}

function valueErrors(
  schema: JsonObject,
  path: FieldPath,
  patterns: Pattern[],
  skipAnyOf = false,
  skipFirstAllOf = false,
): FieldError[] {
  const errors = ["anyOf", "allOf", "oneOf"]
    .filter((junctor) => junctor !== "anyOf" || !skipAnyOf)
    .flatMap((junctor) =>
      listOf(schema, junctor).flatMap((inner, index) =>
        nestedErrors(
          inner,
          path.child(junctor).index(index),
          patterns,
          junctor === "allOf" && skipFirstAllOf && index === 0,
        ),
      ),
    )
  const { not, pattern } = schema
  if (not !== undefined && isObject(not)) errors.push(...nestedErrors(not, path.child("not"), patterns))
  if (typeof pattern === "string" && pattern !== "") patterns.push({ pattern, holder: path })
  return errors
}

/** Keywords that allOf, anyOf, oneOf and not must not contain: structure belongs into the schema proper. */
const notInValue: readonly [string, string][] = [
  ["type", "must be empty to be structural"],
  ["additionalProperties", "must be undefined to be structural"],
  ["default", "must be undefined to be structural"],
  ["title", "must be empty to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
  ["x-kubernetes-embedded-resource", "must be false to be structural"],
  ["x-kubernetes-int-or-string", "must be false to be structural"],
  ["x-kubernetes-list-map-keys", "must be empty to be structural"],
  ["x-kubernetes-list-type", "must be undefined to be structural"],
  ["x-kubernetes-map-type", "must be undefined to be structural"],
  ["x-kubernetes-validations", "must be empty to be structural"],
]

function nestedErrors(schema: JsonObject, path: FieldPath, patterns: Pattern[], skipAnyOf = false): FieldError[] {
  const { items } = schema
  const errors = valueErrors(schema, path, patterns, skipAnyOf)
  if (items !== undefined && isObject(items)) errors.push(...nestedErrors(items, path.child("items"), patterns))
  for (const [name, property] of fieldsOf(schema)) {
    errors.push(...nestedErrors(property, path.child("properties").key(name), patterns))
    if (name !== "metadata") continue
    const detail = "must not be specified in a nested context"
    errors.push(forbiddenField(path.child("properties").key(name), detail))
  }
  for (const [keyword, detail] of notInValue) {
    const given = schema[keyword]
    const isAbsent = given === undefined || given === null || given === "" || given === false
    if (isAbsent || (Array.isArray(given) && given.length === 0)) continue
    errors.push(forbiddenField(path.child(keyword), detail))
  }
  return errors
}

/** Validated fields must be specified: `value` is a validating part of the schema, `schema` the structural part. */
function completeness(value: JsonObject, schema: JsonObject, at: FieldPath, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  for (const junctor of ["allOf", "anyOf", "oneOf"]) {
    for (const [index, inner] of listOf(value, junctor).entries()) {
      errors.push(...nestedCompleteness(inner, schema, at, path.child(junctor).index(index)))
    }
  }
  const { not } = value
  if (not !== undefined && isObject(not)) errors.push(...nestedCompleteness(not, schema, at, path.child("not")))
  return errors
}

function nestedCompleteness(
  value: JsonObject,
  schema: JsonObject | undefined,
  at: FieldPath,
  path: FieldPath,
): FieldError[] {
  if (schema === undefined) return [required(at, `because it is defined in ${path.toString()}`)]
  const errors = completeness(value, schema, at, path)
  const { items } = value
  if (items !== undefined && isObject(items)) {
    const inner = schema["items"]
    const structure = inner !== undefined && isObject(inner) ? inner : undefined
    errors.push(...nestedCompleteness(items, structure, at.child("items"), path.child("items")))
  }
  const fields = new Map(fieldsOf(schema))
  for (const [name, property] of fieldsOf(value)) {
    const [place, where] = [at.child("properties").key(name), path.child("properties").key(name)]
    errors.push(...nestedCompleteness(property, fields.get(name), place, where))
  }
  return errors
}

function isNonEmpty(value: Json | undefined): boolean {
  return value !== undefined && isObject(value) && Object.keys(value).length > 0
}
