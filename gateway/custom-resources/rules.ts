// Evaluates the rules in a definition's schema (x-kubernetes-validations) for writes of its objects. They are compiled once for all
// definitions with the same schema, across tenants. Source: k8s.io/apiextensions-apiserver/pkg/registry/customresource/strategy.go.

import { setImmediate } from "node:timers/promises"
import { CompiledTexts, type Kept } from "../../apimachinery/cel/compiled-texts.ts"
import { expressionsSize } from "../../apimachinery/cel/expressions-size.ts"
import { compilingRuleTree, type RuleTree } from "../../apimachinery/cel/rules/rule-tree.ts"
import { evaluateRules } from "../../apimachinery/cel/rules/validator.ts"
import { type FieldError, FieldPath, invalidValue } from "../../apimachinery/field-errors.ts"
import type { Json, KubeObject } from "../../apimachinery/object.ts"
import { isObject, type JsonObject } from "../../apimachinery/schema/json-object.ts"
import { inSteps, SharedSteps, type Steps } from "../../apimachinery/steps.ts"
import { awaitedPause } from "../request/awaited.ts"
import { inCompilePlace } from "../request/compile-place.ts"
import type { RequestContext } from "../request/context.ts"

/** Of all schemas with cached rules, as far as it can be told by the characters of their texts and of the rules in them. */
const maxKeptBytes = 128 * 1024 * 1024
const bytesPerCharacter = 3
/** What an expression is compiled to. */
const bytesOfExpressions = 70
/** Milliseconds after which others have their turn. */
const maxTurn = 4

/** `tree`: undefined if there are none, after all. */
interface Rules {
  tree: RuleTree | undefined
}

type Compilation = SharedSteps<Rules>

const kept = new CompiledTexts<Compilation>(maxKeptBytes)
/** By schema object, since each control plane has its own. `kept` alone holds them, so that also those of many definitions have a limit. */
const known = new WeakMap<object, WeakRef<Kept<Compilation>> | "none">()

/** Undefined if the schema has no rules. A step compiles one rule. */
export function rulesOfSchema(schema: Json | undefined): Compilation | undefined {
  if (!isObject(schema)) return undefined
  const before = known.get(schema)
  if (before === "none") return undefined
  let compilation = before?.deref()
  if (compilation === undefined) {
    compilation = compilationOf(schema)
    known.set(schema, compilation === undefined ? "none" : new WeakRef(compilation))
  }
  return compilation && kept.use(compilation)
}

function compilationOf(schema: JsonObject): Kept<Compilation> | undefined {
  const text = JSON.stringify(schema)
  if (!text.includes('"x-kubernetes-validations"')) return undefined
  const size = text.length * bytesPerCharacter + expressionsSize(schema) * bytesOfExpressions
  return kept.keeping(text, () => new SharedSteps(() => compiling(schema)), size)
}

function* compiling(schema: JsonObject): Steps<Rules> {
  return { tree: yield* compilingRuleTree(schema, true) }
}

/** Compiles them first if that is not done, with turns for others. `found`: errors of schema validation. */
export async function validateByRules(
  ctx: RequestContext,
  schema: Json | undefined,
  object: KubeObject,
  current: KubeObject | undefined,
  found: readonly FieldError[],
): Promise<FieldError[]> {
  const compilation = rulesOfSchema(schema)
  if (compilation === undefined) return []
  const compile = async (): Promise<Rules> => inSteps(compilation.taking(), awaitedPause(ctx))
  const { tree } = compilation.made ?? (await inCompilePlace(ctx, compile))
  return tree === undefined ? [] : askRules(ctx, tree, object, current, found)
}

const blocking = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
])

/** Rules are not evaluated for objects that do not conform to their types. */
async function askRules(
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
