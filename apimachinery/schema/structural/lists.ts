// Rules for x-kubernetes-list-type and x-kubernetes-list-map-keys of a custom resource's schema.

import { repeats } from "../../repeats.ts"
import { forbiddenField, invalidValue, notSupportedText, required } from "../../field-errors.ts"
import type { FieldError, FieldPath } from "../../field-errors.ts"
import { isGivenEmpty } from "../decode/given.ts"
import { isObject, type JsonObject, ownValue } from "../json-object.ts"
import { printItems } from "./print-schema.ts"

const listTypes = ["atomic", "set", "map"]

export function checkListType(schema: JsonObject, path: FieldPath): FieldError[] {
  const listType = schema["x-kubernetes-list-type"]
  const given = schema["x-kubernetes-list-map-keys"]
  const keys = Array.isArray(given) ? given.filter((key) => typeof key === "string") : []
  const errors: FieldError[] = []
  if (listType === undefined || listType === null) {
    if (keys.length > 0) {
      const detail = "must be map if x-kubernetes-list-map-keys is non-empty"
      errors.push(required(path.child("x-kubernetes-list-type"), detail))
    }
    return errors
  }
  if (schema["type"] !== "array") {
    const detail = "must be array if x-kubernetes-list-type is specified"
    const { type = "" } = schema
    errors.push(type === "" ? required(path.child("type"), detail) : invalidValue(path.child("type"), type, detail))
  }
  const items = isObject(schema["items"]) ? schema["items"] : undefined
  if (listType === "set" && schema["type"] === "array" && items !== undefined) {
    errors.push(...setErrors(items, path.child("items")))
  }
  if (typeof listType !== "string" || !listTypes.includes(listType)) {
    errors.push(notSupportedText(path.child("x-kubernetes-list-type"), listType, listTypes))
  }
  if (listType !== "map" && keys.length > 0) {
    const detail = "must be map if x-kubernetes-list-map-keys is non-empty"
    errors.push(invalidValue(path.child("x-kubernetes-list-type"), listType, detail))
  }
  if (listType === "map") errors.push(...mapErrors(schema, keys, path))
  if (items === undefined || (listType !== "set" && listType !== "map")) return errors
  if (items["nullable"] === true) {
    const detail = `cannot be nullable when x-kubernetes-list-type is ${listType}`
    errors.push(forbiddenField(path.child("items", "nullable"), detail))
  }
  if (listType !== "map") return errors
  const needed = new Set(Array.isArray(items["required"]) ? items["required"] : [])
  for (const key of new Set(keys)) errors.push(...keyErrors(items, key, needed.has(key), path))
  return errors
}

function setErrors(items: JsonObject, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const [mapType, listType] = [items["x-kubernetes-map-type"], items["x-kubernetes-list-type"] ?? null]
  if (items["type"] === "object" && mapType !== "atomic") {
    const detail = "must be atomic as item of a list with x-kubernetes-list-type=set"
    // Upstream reports the value of the other keyword.
    errors.push(invalidValue(path.child("x-kubernetes-map-type"), listType, detail))
  }
  if (items["type"] === "array" && listType !== null && listType !== "atomic") {
    const detail = "must be atomic as item of a list with x-kubernetes-list-type=set"
    errors.push(invalidValue(path.child("x-kubernetes-list-type"), listType, detail))
  }
  return errors
}

function mapErrors(schema: JsonObject, keys: readonly string[], path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const items = isGivenEmpty(schema, "items") ? [] : schema["items"]
  const at = path.child("x-kubernetes-list-map-keys")
  if (keys.length === 0) errors.push(required(at, "must not be empty if x-kubernetes-list-type is map"))
  if (items === undefined || items === null) {
    errors.push(required(path.child("items"), "must have a schema if x-kubernetes-list-type is map"))
  }
  if (Array.isArray(items)) {
    const detail = "must only have a single schema if x-kubernetes-list-type is map"
    errors.push(invalidValue(path.child("items"), printItems(items), detail))
  }
  if (!isObject(items)) return errors
  if (items["type"] !== "object") {
    const detail = "must be object if parent array's x-kubernetes-list-type is map"
    return [...errors, invalidValue(path.child("items", "type"), items["type"] ?? "", detail)]
  }
  const properties = isObject(items["properties"]) ? items["properties"] : {}
  const repeated = repeats(keys)
  for (const [index, key] of keys.entries()) {
    const property = ownValue(properties, key)
    if (property === undefined) errors.push(invalidValue(at, keys, "entries must all be names of item properties"))
    else if (isObject(property) && (property["type"] === "array" || property["type"] === "object")) {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map"
      errors.push(invalidValue(path.child("items", "properties").key(key).child("type"), "object", detail))
    }
    if (repeated.has(index)) errors.push(invalidValue(at, keys, "must not contain duplicate entries"))
  }
  return errors
}

function keyErrors(items: JsonObject, key: string, isRequired: boolean, path: FieldPath): FieldError[] {
  const properties = isObject(items["properties"]) ? items["properties"] : {}
  const property = ownValue(properties, key)
  if (!isObject(property)) return []
  const errors: FieldError[] = []
  const at = path.child("items", "properties").key(key)
  if (!isRequired && (property["default"] ?? null) === null) {
    const detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"
    errors.push(required(at.child("default"), detail))
  }
  if (property["nullable"] === true) {
    const detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"
    errors.push(forbiddenField(at.child("nullable"), detail))
  }
  return errors
}
