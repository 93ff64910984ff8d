// Defaults in a custom resource's schema must be values the schema accepts, without unknown fields.

import { evaluateRules, ruleTree } from "../../cel/rules/validator.ts"
import { invalidValue, required } from "../../field-errors.ts"
import type { FieldError, FieldPath } from "../../field-errors.ts"
import type { Json } from "../../object.ts"
import { isObject, type JsonObject } from "../json-object.ts"
import { prune } from "../prune.ts"
import type { Schema } from "../schema.ts"
import { validateDefault } from "../validate.ts"

/** `source` and `schema` are the same schema before and after compiling; the path is that of the source. */
export function defaultErrors(source: JsonObject, schema: Schema, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  if (schema.default !== undefined) {
    const at = path.child("default")
    const found = oneDefault(schema, schema.default, at)
    errors.push(...surplus(schema, schema.default, at), ...found)
    if (found.length === 0) errors.push(...ruleFaults(source, schema.default, at))
  }
  const { properties, items } = source
  if (isObject(properties)) {
    for (const [name, property] of Object.entries(properties)) {
      const field = schema.fields?.[name]
      if (field === undefined || !isObject(property)) continue
      errors.push(...defaultErrors(property, field.schema, path.child("properties").key(name)))
    }
  }
  // Upstream does not look below additionalProperties.
  if (schema.items !== undefined && schema.type !== "map" && isObject(items)) {
    errors.push(...defaultErrors(items, schema.items, path.child("items")))
  }
  return errors
}

/** By the schema's rules; in an update it may be its own old value, or there may be none. */
function ruleFaults(source: JsonObject, value: Json, path: FieldPath): FieldError[] {
  const tree = ruleTree(source, source["x-kubernetes-embedded-resource"] === true)
  if (tree === undefined) return []
  for (const old of [value, undefined]) {
    const evaluation = evaluateRules(tree, path, value, old, false)
    let next = evaluation.next()
    while (next.done !== true) next = evaluation.next()
    if (next.value.errors.length > 0) return next.value.errors
  }
  return []
}

function oneDefault(schema: Schema, value: Json, path: FieldPath): FieldError[] {
  const whole = schema.custom === true || schema.embedded === true
  if (whole && isObject(value)) {
    const missing = ["apiVersion", "kind"].filter((name) => typeof value[name] !== "string")
    if (missing.length > 0) return missing.map((name) => required(path.child(name)))
  }
  return validateDefault(schema, value, path)
}

function surplus(schema: Schema, value: Json, path: FieldPath): FieldError[] {
  const unknown: string[] = []
  prune(schema, structuredClone(value), unknown)
  return unknown.length === 0 ? [] : [invalidValue(path, value, "must not have unknown fields")]
}
