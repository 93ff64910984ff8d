// Validates defaults in a custom resource's schema: they must be valid against it, without unknown fields.

import { RuleTrees } from "../../cel/rules/rule-tree.ts"
import { evaluateRules, objectBudget } from "../../cel/rules/validator.ts"
import { type FieldError, FieldPath, invalidValue } from "../../field-errors.ts"
import type { Json } from "../../object.ts"
import { embeddedFault } from "../decode/custom.ts"
import { isObject, type JsonObject } from "../json-object.ts"
import { prune, ToldPaths } from "../prune.ts"
import type { Steps } from "../../steps.ts"
import type { Schema } from "../schema.ts"
import { validateDefault } from "../validate.ts"
import { validateEmbedded } from "../validate-embedded.ts"

/** A position within the type metadata or metadata of an object. */
interface WithinWhole {
  /** The schema of the object. */
  root: Schema
  path: Entry
}

/** The last entry of a path. */
interface Entry {
  step: string | number
  holder: Entry | undefined
}

interface Default {
  value: Json
  /** The same schema before and after compilation. */
  source: JsonObject
  schema: Schema
  /** Of the default in the source. */
  at: FieldPath
  within: WithinWhole | undefined
}

const commonFields: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"])

/** `source` and `schema` are the same schema before and after compilation. A step checks one default, or one rule of it. */
export function* checkingDefaults(source: JsonObject, schema: Schema, path: FieldPath): Steps<FieldError[]> {
  const defaults: Default[] = []
  findDefaults(defaults, source, schema, path)
  if (defaults.length === 0) return []
  const errors: FieldError[] = []
  const trees = new RuleTrees(source)
  // What the rules of all defaults of a schema may still cost; negative if it was exhausted: then no more defaults are checked.
  let budget = objectBudget
  for (const one of defaults) {
    if (budget < 0) break
    const found = defaultErrors(one)
    errors.push(...found.surplus, ...found.others)
    yield
    if (found.others.length > 0) continue
    const tree = yield* trees.compiling(one.source, one.source["x-kubernetes-embedded-resource"] === true)
    if (tree === undefined) continue
    const left = budget
    // Both with the value as its own old value and without an old value.
    for (const old of [one.value, undefined]) {
      const evaluated = yield* evaluateRules(tree, one.at, one.value, old, false, left)
      budget = Math.min(budget, evaluated.budget)
      errors.push(...evaluated.errors)
      if (evaluated.errors.length > 0) break
    }
  }
  return errors
}

function findDefaults(
  found: Default[],
  source: JsonObject,
  schema: Schema,
  path: FieldPath,
  given?: WithinWhole,
): void {
  const isWhole = schema.custom === true || schema.embedded === true
  const within = isWhole ? undefined : given
  if (schema.default !== undefined)
    found.push({ value: schema.default, source, schema, at: path.child("default"), within })
  const below = (step: string | number): WithinWhole | undefined => {
    if (isWhole) return commonFields.has(String(step)) ? { root: schema, path: { step, holder: undefined } } : undefined
    return within && { ...within, path: { step, holder: within.path } }
  }
  const { properties, items } = source
  // Upstream does not check below additionalProperties.
  if (schema.items !== undefined && schema.type !== "map" && isObject(items))
    findDefaults(found, items, schema.items, path.child("items"), below(0))
  for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
    const field = schema.fields?.[name]
    if (field === undefined || !isObject(property)) continue
    findDefaults(found, property, field.schema, path.child("properties").key(name), below(name))
  }
}

function defaultErrors({ value, schema, at, within }: Default): { surplus: FieldError[]; others: FieldError[] } {
  return within === undefined
    ? { surplus: surplus(schema, value, at), others: oneDefault(schema, value, at) }
    : { surplus: [], others: defaultWithinObject(schema, value, at, within) }
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
  { root, path: last }: WithinWhole,
): FieldError[] {
  let inner = structuredClone(value)
  for (let entry: Entry | undefined = last; entry !== undefined; entry = entry.holder)
    inner = typeof entry.step === "string" ? { [entry.step]: inner } : [inner]
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
  const unknown = prune(schema, structuredClone(value), new ToldPaths())
  return unknown.length === 0 ? [] : [invalidValue(path, value, "must not have unknown fields")]
}
