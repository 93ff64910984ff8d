// The keywords and values that a custom resource's schema may have at each level. Source:
// k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation ValidateCustomResourceDefinitionOpenAPISchema.

import { forbiddenField, invalidValue, notSupportedText, required } from "../../field-errors.ts"
import type { FieldError, FieldPath } from "../../field-errors.ts"
import { wordErrors } from "../../cel/rules/words.ts"
import type { Json } from "../../object.ts"
import { isGivenEmpty } from "../decode/given.ts"
import { isObject, type JsonObject } from "../json-object.ts"
import { checkListType } from "./lists.ts"

const types = ["array", "boolean", "integer", "number", "object", "string"]
const mapTypes = ["atomic", "granular"]
const ofObject = ["metadata", "kind", "apiVersion"]

/** Restrictions that apply to all levels below. */
interface Within {
  /** apiVersion, kind and metadata of a complete object. */
  meta: boolean
  /** Why defaults are forbidden; absent if they are allowed. */
  noDefaults?: string
}

export function keywordErrors(schema: JsonObject, path: FieldPath): FieldError[] {
  return nodeErrors(schema, path, { meta: false }, true)
}

function nodeErrors(schema: JsonObject, path: FieldPath, within: Within, isRoot = false): FieldError[] {
  const errors = plainErrors(schema, path, within)
  if (schema["uniqueItems"] === true) {
    const detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
    errors.push(forbiddenField(path.child("uniqueItems"), detail))
  }
  return [
    ...errors,
    ...fieldErrors(schema, path, within, isRoot),
    ...junctorErrors(schema, path, within),
    ...namedErrors(schema, "definitions", path, within),
    ...itemErrors(schema, path, within),
    ...namedErrors(schema, "dependencies", path, within),
    ...extensionErrors(schema, path),
    ...checkListType(schema, path),
    ...wordErrors(schema, path),
  ]
}

function plainErrors(schema: JsonObject, path: FieldPath, { meta, noDefaults }: Within): FieldError[] {
  const { type, items, default: preset } = schema
  const errors: FieldError[] = []
  if (type !== undefined && type !== "" && (typeof type !== "string" || !types.includes(type))) {
    errors.push(notSupportedText(path.child("type"), type, types))
  }
  if (noDefaults !== undefined && preset !== undefined && preset !== null) {
    errors.push(forbiddenField(path.child("default"), `must not be set ${noDefaults}`))
  }
  for (const keyword of ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"]) {
    if (isGiven(schema, keyword)) errors.push(forbiddenField(path.child(keyword), `${keyword} is not supported`))
  }
  if (type === "null") {
    errors.push(forbiddenField(path.child("type"), "type cannot be set to null, use nullable as an alternative"))
  }
  if (Array.isArray(items)) {
    errors.push(forbiddenField(path.child("items"), "items must be a schema object and not an array"))
  }
  if (meta && schema["x-kubernetes-embedded-resource"] === true) {
    const at = path.child("x-kubernetes-embedded-resource")
    errors.push(forbiddenField(at, "must not be used inside of resource meta"))
  }
  return errors
}

/** Keywords that are allowed if they are empty, unlike dependencies and references. */
const mayBeEmpty: ReadonlySet<string> = new Set(["definitions", "patternProperties"])

function isGiven(schema: JsonObject, keyword: string): boolean {
  const value = schema[keyword]
  if (keyword === "dependencies" && isGivenEmpty(schema, keyword)) return true
  if (isObject(value) && Object.keys(value).length === 0 && mayBeEmpty.has(keyword)) return false
  return value !== undefined && value !== null && (value !== "" || keyword === "$ref")
}

function fieldErrors(schema: JsonObject, path: FieldPath, within: Within, isRoot: boolean): FieldError[] {
  const { properties, additionalProperties: more } = schema
  const fields = properties !== undefined && isObject(properties) ? Object.entries(properties) : []
  const errors: FieldError[] = []
  if (more !== undefined && more !== null) {
    const at = path.child("additionalProperties")
    if (fields.length > 0 && more !== true) {
      errors.push(forbiddenField(at, "additionalProperties and properties are mutual exclusive"))
    }
    const noDefaults = "inside additionalProperties applying to object metadata"
    if (typeof more !== "boolean") errors.push(...inner(more, at, within.meta ? { ...within, noDefaults } : within))
  }
  const isWhole = isRoot || schema["x-kubernetes-embedded-resource"] === true
  for (const [name, property] of fields.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const isMeta = isWhole && ofObject.includes(name)
    const below = isMeta ? { ...within, meta: true, ...(isRoot ? { noDefaults: `in top-level ${name}` } : {}) } : within
    errors.push(...inner(property, path.child("properties").key(name), below))
  }
  return errors
}

function junctorErrors(schema: JsonObject, path: FieldPath, within: Within): FieldError[] {
  const { not } = schema
  const errors = not !== undefined && isObject(not) ? nodeErrors(not, path.child("not"), within) : []
  for (const junctor of ["allOf", "oneOf", "anyOf"]) {
    const list = schema[junctor]
    if (!Array.isArray(list)) continue
    for (const [index, one] of list.entries()) {
      if (isObject(one)) errors.push(...nodeErrors(one, path.child(junctor).index(index), within))
    }
  }
  return errors
}

/** Both keywords are forbidden; errors within them are reported as well. */
function namedErrors(
  schema: JsonObject,
  keyword: "definitions" | "dependencies",
  path: FieldPath,
  within: Within,
): FieldError[] {
  const named = schema[keyword]
  return Object.entries(isObject(named) ? named : {}).flatMap(([name, one]) =>
    isObject(one) ? nodeErrors(one, path.child(keyword).key(name), within) : [],
  )
}

function itemErrors({ items }: JsonObject, path: FieldPath, within: Within): FieldError[] {
  if (items === undefined || items === null) return []
  const at = path.child("items")
  return Array.isArray(items)
    ? items.flatMap((item, index) => inner(item, at.index(index), within))
    : inner(items, at, within)
}

function inner(schema: Json, path: FieldPath, within: Within): FieldError[] {
  return isObject(schema) ? nodeErrors(schema, path, within) : [required(path.child("type"), "must be a schema object")]
}

function extensionErrors(schema: JsonObject, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const { type = "" } = schema
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
    const at = path.child("x-kubernetes-preserve-unknown-fields")
    errors.push(invalidValue(at, false, "must be true or undefined"))
  }
  const mapType = schema["x-kubernetes-map-type"]
  if (mapType === undefined || mapType === null) return errors
  if (type !== "object") {
    const detail = "must be object if x-kubernetes-map-type is specified"
    errors.push(type === "" ? required(path.child("type"), detail) : invalidValue(path.child("type"), type, detail))
  }
  if (typeof mapType !== "string" || !mapTypes.includes(mapType)) {
    errors.push(notSupportedText(path.child("x-kubernetes-map-type"), mapType, mapTypes))
  }
  return errors
}
