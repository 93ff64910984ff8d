// Evaluates the rules in a definition's schema (x-kubernetes-validations) for writes of its objects. They are compiled once for all
// definitions with the same schema, across tenants. Source: k8s.io/apiextensions-apiserver/pkg/registry/customresource/strategy.go.

import { setImmediate } from "node:timers/promises"
import { CompiledTexts } from "../../apimachinery/cel/compiled-texts.ts"
import { evaluateRules, type RuleTree, ruleTree } from "../../apimachinery/cel/rules/validator.ts"
import { type FieldError, FieldPath, invalidValue } from "../../apimachinery/field-errors.ts"
import type { Json, KubeObject } from "../../apimachinery/object.ts"
import { isObject, type JsonObject } from "../../apimachinery/schema/json-object.ts"
import type { RequestContext } from "../request/context.ts"

/** Characters of the schemas with cached rules: what these are compiled to is up to seventy times as large. */
const keptCharacters = 8 * 1024 * 1024
/** Milliseconds after which others have their turn. */
const maxTurn = 4

const kept = new CompiledTexts<RuleTree | "none">(keptCharacters)
/** By schema object, since each control plane has its own. */
const known = new WeakMap<object, RuleTree | "none">()

export function rulesOfSchema(schema: Json | undefined): RuleTree | undefined {
  if (!isObject(schema)) return undefined
  const found = known.get(schema) ?? compiled(schema)
  known.set(schema, found)
  return found === "none" ? undefined : found
}

function compiled(schema: JsonObject): RuleTree | "none" {
  const text = JSON.stringify(schema)
  if (!text.includes('"x-kubernetes-validations"')) return "none"
  return kept.of(text, () => ruleTree(schema, true) ?? "none")
}

const blocking = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
])

/** `found`: errors of schema validation; rules are not evaluated for objects that do not conform to their types. */
export async function askRules(
  ctx: RequestContext,
  tree: RuleTree,
  object: KubeObject,
  current: KubeObject | undefined,
  found: readonly FieldError[],
): Promise<FieldError[]> {
  if (found.some((error) => blocking.has(error.type))) {
    const detail =
      "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"
    return [invalidValue(FieldPath.root("<nil>"), null, detail)]
  }
  const evaluation = evaluateRules(tree, FieldPath.root(), object as Json, current as Json | undefined, true)
  let started = performance.now()
  for (;;) {
    const next = evaluation.next()
    if (next.done === true) {
      for (const warning of next.value.warnings) ctx.warn(warning.message())
      return next.value.errors
    }
    if (performance.now() - started < maxTurn) continue
    await (ctx.turn?.() ?? setImmediate())
    started = performance.now()
  }
}
