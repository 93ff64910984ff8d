// Evaluates the rules of a schema on an object, each with its own cost limit and all within one budget. It is a generator, so
// that the caller can yield to other work. Source: k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go.

import { trimSpace } from "../../texts.ts"
import { type FieldError, FieldPath, invalidValue } from "../../field-errors.ts"
import { shownDouble } from "../../go/print.ts"
import type { Json } from "../../object.ts"
import { isGivenFraction } from "../../schema/decode/given.ts"
import { isObject, type JsonObject, ownValue } from "../../schema/json-object.ts"
import { CostExceeded } from "../closures.ts"
import { wholeObject } from "../types/declared-type.ts"
import { perCallLimit, type Program } from "../program.ts"
import { schemaValue } from "../schema-values.ts"
import { CelError, Optional, type Value } from "../values.ts"
import {
  type Correlation,
  fieldCorrelation,
  itemCorrelation,
  oldItem,
  typeFields,
  UntouchedParts,
} from "./correlation.ts"
import { failure } from "./failure.ts"
import type { CompiledRule } from "./rule.ts"
import type { RuleTree } from "./rule-tree.ts"

/** Cost limit of all rules for one object. Source: k8s.io/apiserver/pkg/apis/cel. */
export const objectBudget = 10_000_000
/** Maximum size in bytes of a message created by an expression. */
const maxMessageBytes = 5 * 1024

interface RuleFindings {
  errors: FieldError[]
  /** Errors of unchanged values that were already invalid. */
  warnings: FieldError[]
  /** What is left of it; negative if it was exhausted. */
  budget: number
}

/** `old` is undefined if there is no old object. `ratchet`: unchanged values only cause warnings. */
export function* evaluateRules(
  tree: RuleTree,
  path: FieldPath,
  value: Json,
  old: Json | undefined,
  ratchet: boolean,
  budget = objectBudget,
): Generator<undefined, RuleFindings> {
  const evaluation = new RuleEvaluation(budget)
  const correlation = ratchet && old !== undefined ? { value, old, schema: tree.schema } : undefined
  yield* evaluation.visit(tree, path, value, old, { current: correlation, parent: undefined })
  return evaluation
}

interface Ratchet {
  current: Correlation | undefined
  /** That of the nearest ancestor with an old value, if this value has none. */
  parent: Correlation | undefined
}

const uncorrelated: Ratchet = { current: undefined, parent: undefined }
const nowhere = FieldPath.root("<nil>")

class RuleEvaluation implements RuleFindings {
  readonly errors: FieldError[] = []
  readonly warnings: FieldError[] = []
  readonly #untouched = new UntouchedParts()
  #budget: number
  #over = false

  constructor(budget: number) {
    this.#budget = budget
  }

  get budget(): number {
    return this.#over ? -1 : this.#budget
  }

  #report(error: FieldError, rule: CompiledRule, { current, parent }: Ratchet): void {
    const untouched = !rule.usesOldSelf && this.#untouched.has(current ?? parent)
    if (untouched) this.warnings.push(error)
    else this.errors.push(error)
  }

  *visit(
    tree: RuleTree,
    path: FieldPath,
    value: Json,
    old: Json | undefined,
    ratchet: Ratchet,
    isDouble = false,
  ): Generator<undefined, void> {
    if (value === null || this.#over) return
    if (tree.rules.length > 0) yield* this.#rules(tree, path, value, old ?? undefined, ratchet, isDouble)
    if (Array.isArray(value) && tree.items !== undefined) {
      const before = Array.isArray(old) ? old : []
      for (const [index, item] of value.entries()) {
        if (this.#over) return
        const next = nextRatchet(ratchet, () => itemCorrelation(ratchet.current, index))
        const isDouble = isGivenFraction(value, index)
        yield* this.visit(tree.items, path.index(index), item, oldItem(tree.schema, before, item), next, isDouble)
      }
    } else if (isObject(value)) yield* this.#fields(tree, path, value, isObject(old) ? old : {}, ratchet)
  }

  *#fields(
    tree: RuleTree,
    path: FieldPath,
    value: JsonObject,
    old: JsonObject,
    ratchet: Ratchet,
  ): Generator<undefined, void> {
    for (const [name, item] of Object.entries(value)) {
      if (this.#over) return
      const inner = tree.properties.get(name) ?? tree.additional
      if (inner === undefined) continue
      const at = tree.properties.has(name) ? path.child(name) : path.key(name)
      const isType = ratchet.parent === undefined && typeFields.has(name)
      const next = isType ? uncorrelated : nextRatchet(ratchet, () => fieldCorrelation(ratchet.current, name))
      yield* this.visit(inner, at, item, ownValue(old, name), next, isGivenFraction(value, name))
    }
  }

  *#rules(
    tree: RuleTree,
    path: FieldPath,
    value: Json,
    old: Json | undefined,
    ratchet: Ratchet,
    isDouble: boolean,
  ): Generator<undefined, void> {
    const schema = tree.whole ? wholeObject(tree.schema) : tree.schema
    const type = typeof schema["type"] === "string" ? schema["type"] : ""
    const self = schemaValue(value, schema, isDouble)
    // Messages may speak of the old value as well, but upstream has it only if a rule does.
    const comparesOld = tree.rules.some((rule) => rule.usesOldSelf)
    const oldSelf = old === undefined || old === null || !comparesOld ? undefined : schemaValue(old, schema)
    const variables = new Map<string, Value>([["self", self]])
    const optionalVariables = new Map<string, Value>([["self", self]])
    if (oldSelf !== undefined) variables.set("oldSelf", oldSelf)
    optionalVariables.set("oldSelf", oldSelf === undefined ? Optional.none : new Optional(oldSelf))
    if (this.#budget <= 0) {
      this.#over = true
      this.errors.push(invalidValue(shownPath(path), type, outOfBudget))
    }
    for (const rule of tree.rules) {
      if (this.#over) return
      if (rule.fault !== undefined)
        this.errors.push(invalidValue(shownPath(path), type, `rule compile error: ${rule.fault}`))
      const optional = rule.source.optionalOldSelf === true
      if (rule.program === undefined || (rule.usesOldSelf && oldSelf === undefined && !optional)) continue
      const given = optional ? optionalVariables : variables
      const result = this.#run(rule.program, rule, path, type, given)
      yield
      if (result !== false) continue
      const at = rule.fieldPath === "" ? shownPath(path) : path.child(rule.fieldPath)
      // Upstream evaluates the message with the old value itself, even if the rule has it as an optional one.
      const detail = this.#message(rule, at, type, variables, ratchet)
      if (detail === undefined) return
      const shown = type === "object" || type === "array" ? undefined : isDouble ? shownDouble(Number(value)) : value
      this.#report(failure(rule, at, shown, detail), rule, ratchet)
    }
  }

  /** Returns the rule's result, or undefined if evaluation failed, which is reported. */
  #run(
    program: Program,
    rule: CompiledRule,
    path: FieldPath,
    type: string,
    variables: Map<string, Value>,
  ): boolean | undefined {
    const about = trimSpace(rule.source.message) || trimSpace(rule.source.rule)
    const fail = (detail: string): undefined => {
      this.errors.push(invalidValue(shownPath(path), type, detail))
      return undefined
    }
    try {
      const { value, cost } = program.evaluate(variables, perCallLimit)
      if (cost > this.#budget) {
        this.#over = true
        return fail(outOfBudget)
      }
      this.#budget -= cost
      if (!(value instanceof CelError)) return value === true
      if (!value.message.startsWith("no such overload")) return fail(`${value.message} evaluating rule: ${about}`)
      return fail(
        `'${value.message}': call arguments did not match a supported operator, function or macro signature for rule: ${about}`,
      )
    } catch (error) {
      if (!(error instanceof CostExceeded)) throw error
      this.#over = true
      if (error.cost > this.#budget) return fail(outOfBudget)
      return fail(
        `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${about}`,
      )
    }
  }

  /** Undefined if the budget is exhausted, which is reported. If the expression yields no message, the rule's own is used. */
  #message(
    rule: CompiledRule,
    path: FieldPath,
    type: string,
    variables: Map<string, Value>,
    ratchet: Ratchet,
  ): string | undefined {
    const otherwise = trimSpace(rule.source.message) || `failed rule: ${trimSpace(rule.source.rule)}`
    if (rule.messageProgram === undefined) return otherwise
    const stop = (detail: string): undefined => {
      this.#over = true
      this.#report(invalidValue(shownPath(path), type, detail), rule, ratchet)
      return undefined
    }
    try {
      const { value, cost } = rule.messageProgram.evaluate(variables, perCallLimit)
      if (cost > this.#budget) return stop(`messageExpression evaluation ${outOfBudgetDetail}`)
      this.#budget -= cost
      return usableMessage(value) ?? otherwise
    } catch (error) {
      if (!(error instanceof CostExceeded)) throw error
      if (error.cost > this.#budget) return stop(`messageExpression evaluation ${outOfBudgetDetail}`)
      const source = JSON.stringify(rule.source.messageExpression)
      return stop(
        `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${source}`,
      )
    }
  }
}

const outOfBudgetDetail = "failed due to running out of cost budget, no further validation rules will be run"
const outOfBudget = `validation ${outOfBudgetDetail}`

/** Upstream has no path for the root. */
function shownPath(path: FieldPath): FieldPath {
  return path.toString() === "" ? nowhere : path
}

/** Returns the message if it has a single line and is not too long. */
export function usableMessage(value: Value): string | undefined {
  if (typeof value !== "string") return undefined
  const trimmed = trimSpace(value)
  const usable = trimmed !== "" && !trimmed.includes("\n") && Buffer.byteLength(trimmed) <= maxMessageBytes
  return usable ? trimmed : undefined
}

function nextRatchet(at: Ratchet, correlate: () => Correlation | undefined): Ratchet {
  return at.current === undefined ? at : { current: correlate(), parent: at.current }
}
