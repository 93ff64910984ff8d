// Validates the expressions of a definition's rules: their syntax, types and maximum cost, individually and in total. Source:
// k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation/{validation,cel_validation}.go.

import { goFixed } from "../../go/print.ts"
import {
  type FieldError,
  type FieldPath,
  forbiddenField,
  internalFieldError,
  invalidValue,
} from "../../field-errors.ts"
import type { Json } from "../../object.ts"
import { isObject, type JsonObject } from "../../schema/json-object.ts"
import type { Structural } from "../../schema/structural/structural.ts"
import type { Steps } from "../../steps.ts"
import { type DeclaredType, declaredType } from "../types/declared-type.ts"
import { escapeIdentifier } from "../syntax/identifiers.ts"
import { type CompiledRule, hasOwnRules, maxCardinality, type Rule, ruleCompiler, rulesOf } from "./rule.ts"

/** Maximum worst-case cost of one rule, given the bounds of its schema. */
const ruleCostLimit = 10_000_000
/** For all rules of a definition. */
const totalCostLimit = 100_000_000
/** Number of the most expensive rules that are reported, and the minimum cost of each. */
const mostExpensive = 4
const expensive = totalCostLimit / 100

const key = "x-kubernetes-validations"
/** Map types whose fields keep their identity in an update. */
const mapTypes: readonly Json[] = ["atomic", "granular"]

/** Checks expressions in the parts of the schema that are valid. A step checks one rule. */
export function* checkingRules(
  schema: JsonObject,
  path: FieldPath,
  { isSound, keywordErrors }: Pick<Structural, "isSound" | "keywordErrors">,
): Steps<FieldError[]> {
  if (!isSound) return []
  const checker = new DefinitionChecker(keywordErrors)
  checker.visit(schema, path, {
    cardinality: 1,
    uncorrelated: undefined,
    declared: undefined,
    isUntyped: false,
    lacksType: false,
    inScope: false,
    isRoot: true,
  })
  yield* checker.checking()
  return [...checker.ruleErrors, ...checker.totalErrors(path)]
}

interface Context {
  /** The maximum number of such values in one object; undefined if it is unbounded. */
  cardinality: number | undefined
  /** The part of the schema whose values cannot be correlated with old ones. */
  uncorrelated: FieldPath | undefined
  /** Its part in the declared type of the nearest ancestor with rules. */
  declared: DeclaredType | undefined
  /** An ancestor with rules has no declared type, so nothing below it has one. */
  isUntyped: boolean
  /** It is the element of a type that has none: items of a text. */
  lacksType: boolean
  /** An ancestor has rules. */
  inScope: boolean
  isRoot: boolean
}

/** A schema with rules. */
interface SchemaWithRules {
  schema: JsonObject
  path: FieldPath
  context: Context
  declared: DeclaredType | undefined
}

class DefinitionChecker {
  readonly ruleErrors: FieldError[] = []
  /** Other errors of the schema. */
  readonly #others: readonly FieldError[]
  readonly #places: SchemaWithRules[] = []
  readonly #costs: { path: FieldPath; cost: number }[] = []
  #total = 0

  constructor(others: readonly FieldError[]) {
    this.#others = others
  }

  /** Finds the rules, those of inner schemas first. */
  visit(schema: JsonObject, path: FieldPath, context: Context): void {
    const hasRules = hasOwnRules(schema)
    const inScope = context.inScope || hasRules
    const isTyped = inScope && !context.isUntyped && !context.lacksType
    const declared = context.declared ?? (isTyped ? declaredType(schema, isWhole(schema, context)) : undefined)
    const isUntyped = inScope && declared === undefined && !context.lacksType
    this.#visitChildren(schema, path, { ...context, declared, isUntyped, inScope, isRoot: false })
    if (hasRules) this.#places.push({ schema, path, context, declared })
  }

  *checking(): Steps<void> {
    for (const place of this.#places) {
      if (this.#isRight(place.path)) yield* this.#checkingPlace(place)
      yield
    }
  }

  *#checkingPlace({ schema, path, context, declared }: SchemaWithRules): Steps<void> {
    if (context.lacksType) {
      const detail = "failed to convert to declType for CEL validation rules"
      this.ruleErrors.push(internalFieldError(path.child(key), detail))
      return
    }
    if (declared === undefined) {
      const what = `internal error: failed to construct type information for ${key} rules`
      const detail = `${what}: unable to convert structural schema to CEL declarations`
      this.ruleErrors.push(internalFieldError(path.child(key), detail))
      return
    }
    const compile = ruleCompiler(schema, declared)
    // What a rule is compiled to is many times as large, and not needed any more.
    for (const [index, rule] of rulesOf(schema).entries()) {
      this.#checkCompiled(compile(rule), path.child(key).index(index), declared, context)
      yield
    }
  }

  #isRight(path: FieldPath): boolean {
    const start = `${path.toString()}.`
    return !this.#others.some(({ field }) => field.startsWith(start))
  }

  #visitChildren(schema: JsonObject, path: FieldPath, context: Context): void {
    const { properties, additionalProperties, items } = schema
    const declared = context.declared
    const each = maxElementsOf(schema)
    const cardinality = context.cardinality === undefined || each === undefined ? undefined : context.cardinality * each
    const inner = { ...context, cardinality }
    const lacksType = context.lacksType || (declared !== undefined && declared.items === undefined)
    const element = { ...inner, declared: declared?.items, lacksType }
    if (isObject(additionalProperties)) this.visit(additionalProperties, path.child("additionalProperties"), element)
    if (isObject(properties)) {
      const mapType = schema["x-kubernetes-map-type"]
      const isCorrelated = mapType === undefined || mapType === null || mapTypes.includes(mapType)
      const uncorrelated = isCorrelated ? context.uncorrelated : (context.uncorrelated ?? path)
      for (const [name, property] of Object.entries(properties)) {
        if (!isObject(property)) continue
        const field = declared?.fields.get(escapeIdentifier(name) ?? "")
        this.visit(property, path.child("properties").key(name), { ...inner, declared: field, uncorrelated })
      }
    }
    if (!isObject(items)) return
    const uncorrelated =
      schema["x-kubernetes-list-type"] === "map" ? context.uncorrelated : (context.uncorrelated ?? path)
    this.visit(items, path.child("items"), { ...element, uncorrelated })
  }

  #checkCompiled(rule: CompiledRule, path: FieldPath, declared: DeclaredType, context: Context): void {
    const errors = this.ruleErrors
    const cost = Math.min(rule.maxCost * (context.cardinality ?? maxCardinality(declared)), 2 ** 64)
    if (cost > ruleCostLimit) {
      errors.push(forbiddenField(path.child("rule"), costMessage("estimated rule cost", cost, ruleCostLimit)))
    }
    this.#observe(path.child("rule"), cost)
    if (rule.fault !== undefined) errors.push(invalidValue(path.child("rule"), shownRule(rule.source), rule.fault))
    if (rule.messageFault !== undefined) {
      errors.push(invalidValue(path.child("messageExpression"), shownRule(rule.source), rule.messageFault))
    } else if (rule.messageProgram !== undefined) {
      const what = "estimated messageExpression cost"
      if (rule.maxMessageCost > ruleCostLimit) {
        errors.push(
          forbiddenField(path.child("messageExpression"), costMessage(what, rule.maxMessageCost, ruleCostLimit)),
        )
      }
      this.#observe(path.child("messageExpression"), rule.maxMessageCost)
    }
    if (rule.usesOldSelf) {
      if (context.uncorrelated === undefined) return
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${context.uncorrelated.toString()}`
      errors.push(invalidValue(path.child("rule"), rule.source.rule, detail))
    } else if (rule.source.optionalOldSelf !== undefined) {
      const detail = "may not be set if oldSelf is not used in rule"
      errors.push(invalidValue(path.child("optionalOldSelf"), rule.source.optionalOldSelf, detail))
    }
  }

  #observe(path: FieldPath, cost: number): void {
    this.#total = Math.min(this.#total + cost, 2 ** 64)
    if (cost >= expensive) this.#costs.push({ path, cost })
  }

  totalErrors(path: FieldPath): FieldError[] {
    if (this.#total <= totalCostLimit) return []
    const dearest = this.#costs.sort((a, b) => b.cost - a.cost).slice(0, mostExpensive)
    const what = `${key} estimated rule cost total for entire OpenAPIv3 schema`
    return [
      ...dearest.map((one) =>
        forbiddenField(
          one.path,
          "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
        ),
      ),
      forbiddenField(path, costMessage(what, this.#total, totalCostLimit)),
    ]
  }
}

function isWhole(schema: JsonObject, { isRoot }: Context): boolean {
  return isRoot || schema["x-kubernetes-embedded-resource"] === true
}

function maxElementsOf(schema: JsonObject): number | undefined {
  const bound = (value: Json | undefined): number | undefined =>
    typeof value === "number" ? Math.max(0, value) : undefined
  if (schema["type"] === "array") return bound(schema["maxItems"])
  if (schema["type"] !== "object" || schema["additionalProperties"] === undefined) return 1
  return bound(schema["maxProperties"])
}

/** How Go prints a rule without JSON names. */
function shownRule(rule: Rule): Json {
  return {
    Rule: rule.rule,
    Message: rule.message,
    MessageExpression: rule.messageExpression,
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath,
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  }
}

function costMessage(what: string, cost: number, limit: number): string {
  const factor = cost / limit
  const shown = factor > 100 ? "more than 100x" : `${goFixed(factor, factor < 1.5 ? 6 : 1)}x`
  const advice =
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
  return `${what} exceeds budget by factor of ${shown} ${advice}`
}
