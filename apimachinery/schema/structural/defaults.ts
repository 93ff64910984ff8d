// Validates defaults in a custom resource's schema: they must be valid against it, without unknown fields.

import { evaluateRules, objectBudget, ruleTree } from "../../cel/rules/validator.ts"
import { type FieldError, FieldPath, invalidValue } from "../../field-errors.ts"
import type { Json } from "../../object.ts"
import { embeddedFault } from "../decode/custom.ts"
import { isObject, type JsonObject } from "../json-object.ts"
import { prune } from "../prune.ts"
import type { Schema } from "../schema.ts"
import { validateDefault } from "../validate.ts"
import { validateEmbedded } from "../validate-embedded.ts"

/** A position within the type metadata or metadata of an object. */
interface WithinWhole {
  /** The schema of the object. */
  root: Schema
  path: readonly (string | number)[]
}

const commonFields: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"])

/** What the rules of all defaults of a schema may still cost; negative if it was exhausted: then no more defaults are checked. */
interface Budget {
  left: number
}

/** `source` and `schema` are the same schema before and after compilation; the path is that of the source. */
export function defaultErrors(
  source: JsonObject,
  schema: Schema,
  path: FieldPath,
  within?: WithinWhole,
  budget: Budget = { left: objectBudget },
): FieldError[] {
  const errors: FieldError[] = []
  const isWhole = schema.custom === true || schema.embedded === true
  const place = isWhole ? undefined : within
  if (schema.default !== undefined) {
    const at = path.child("default")
    const found =
      place === undefined
        ? oneDefault(schema, schema.default, at)
        : defaultWithinObject(schema, schema.default, at, place)
    errors.push(...(place === undefined ? surplus(schema, schema.default, at) : []), ...found)
    if (found.length === 0) errors.push(...ruleFaults(source, schema.default, at, budget))
  }
  const below = (step: string | number): WithinWhole | undefined => {
    if (isWhole) return commonFields.has(String(step)) ? { root: schema, path: [step] } : undefined
    return place && { ...place, path: [...place.path, step] }
  }
  const { properties, items } = source
  // Upstream does not check below additionalProperties.
  if (budget.left >= 0 && schema.items !== undefined && schema.type !== "map" && isObject(items)) {
    errors.push(...defaultErrors(items, schema.items, path.child("items"), below(0), budget))
  }
  for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
    const field = schema.fields?.[name]
    if (budget.left < 0 || field === undefined || !isObject(property)) continue
    errors.push(...defaultErrors(property, field.schema, path.child("properties").key(name), below(name), budget))
  }
  return errors
}

/** Evaluates the schema's validation rules, both with the value as its own old value and without an old value. */
function ruleFaults(source: JsonObject, value: Json, path: FieldPath, budget: Budget): FieldError[] {
  const tree = ruleTree(source, source["x-kubernetes-embedded-resource"] === true)
  if (tree === undefined) return []
  const { left } = budget
  for (const old of [value, undefined]) {
    const evaluation = evaluateRules(tree, path, value, old, false, left)
    let next = evaluation.next()
    while (next.done !== true) next = evaluation.next()
    budget.left = Math.min(budget.left, next.value.budget)
    if (next.value.errors.length > 0) return next.value.errors
  }
  return []
}

function oneDefault(schema: Schema, value: Json, path: FieldPath): FieldError[] {
  const given = structuredClone(value)
  const fault = embeddedFault(schema, given, path)
  if (fault !== undefined) return [invalidValue(fault.at, JSON.parse(fault.given), fault.detail)]
  const errors = validateEmbedded(asWhole(schema), given, path)
  return errors.length > 0 ? errors : validateDefault(schema, value, path)
}

/**
 * An object with only this value must have valid metadata. Source: surroundingobject.go of the apiextensions-apiserver's
 * defaulting.
 */
function defaultWithinObject(
  schema: Schema,
  value: Json,
  path: FieldPath,
  { root, path: steps }: WithinWhole,
): FieldError[] {
  const inner = steps.reduceRight<Json>(
    (to, step) => (typeof step === "string" ? { [step]: to } : [to]),
    structuredClone(value),
  )
  const object = { apiVersion: "validation/v1", kind: "Validation", ...(inner as JsonObject) }
  const whole = asWhole(root)
  const fault = embeddedFault(whole, object)
  const faults =
    fault === undefined
      ? validateEmbedded(whole, object, FieldPath.root()).map((error) => error.message())
      : [fault.message]
  if (faults.length === 0) return validateDefault(schema, value, path)
  const [first = ""] = faults
  const told = faults.length === 1 ? first : `[${faults.join(", ")}]`
  return [invalidValue(path, value, `must result in valid metadata: ${told}`)]
}

/** The root of the definition's own kind is such an object, too. */
const asWhole = (schema: Schema): Schema => (schema.custom === true ? { ...schema, embedded: true } : schema)

function surplus(schema: Schema, value: Json, path: FieldPath): FieldError[] {
  const unknown = prune(schema, structuredClone(value), true)
  return unknown.length === 0 ? [] : [invalidValue(path, value, "must not have unknown fields")]
}
