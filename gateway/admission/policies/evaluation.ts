// Evaluates the expressions of one policy (or the conditions of one webhook) for one request, within one cost budget. Authorization
// checks are awaited in between; long evaluations yield to others. Source: k8s.io/apiserver/pkg/admission/plugin/cel.

import { setImmediate } from "node:timers/promises"
import type { CompiledExpression } from "../../../apimachinery/cel/admission/compile.ts"
import { type AuthorizationQuery, Unanswered } from "../../../apimachinery/cel/functions/authorizer.ts"
import { CostExceeded } from "../../../apimachinery/cel/closures.ts"
import { jsonValue } from "../../../apimachinery/cel/json-values.ts"
import { perCallLimit, type Program, type Variables } from "../../../apimachinery/cel/program.ts"
import { CelError, MapValue, type Value } from "../../../apimachinery/cel/values.ts"
import type { Json, KubeObject } from "../../../apimachinery/object.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import { serviceAccountUser, type User } from "../../request/user.ts"
import { authorizerNames, type PolicyInput } from "./input.ts"

/** The cost budget of a policy's expressions per request. Source: k8s.io/apiserver/pkg/apis/cel. */
const policyBudget = 10_000_000
/** The cost budget of match conditions. */
const conditionsBudget = policyBudget / 4
/** Milliseconds after which others have their turn. */
const maxTurn = 4

/** The cost budget is exhausted. */
export class OutOfBudget extends Error {
  constructor() {
    super("validation failed due to running out of cost budget, no further validation rules will be run")
  }
}

export type Outcome = { value: Value; error?: undefined } | { value?: undefined; error: string }

export class Evaluation {
  readonly #input: PolicyInput
  readonly #variables: Map<string, Value>
  readonly #composed: ComposedVariables
  #budget: number
  #turn = performance.now()

  private constructor(
    input: PolicyInput,
    given: ReadonlyMap<string, Value>,
    composed: ReadonlyMap<string, CompiledExpression>,
    params: KubeObject | undefined,
    budget: number,
  ) {
    this.#input = input
    this.#budget = budget
    this.#variables = new Map(given)
    this.#variables.set("params", jsonValue(params as Json | undefined))
    this.#composed = new ComposedVariables(composed, this.#variables)
    this.#variables.set("variables", this.#composed)
  }

  static async of(
    input: PolicyInput,
    definition: ResourceDefinition,
    composed: ReadonlyMap<string, CompiledExpression>,
    params: KubeObject | undefined,
    budget = policyBudget,
  ): Promise<Evaluation> {
    return new Evaluation(input, await input.variables(definition), composed, params, budget)
  }

  static async ofConditions(
    input: PolicyInput,
    definition: ResourceDefinition,
    composed: ReadonlyMap<string, CompiledExpression>,
    params?: KubeObject,
  ): Promise<Evaluation> {
    return new Evaluation(input, await input.conditionVariables(definition), composed, params, conditionsBudget)
  }

  /** What is left of the cost budget. */
  get budget(): number {
    return this.#budget
  }

  /** Its expressions, and the variables that they use, cannot ask what is allowed. */
  withoutAuthorizer(): this {
    for (const name of authorizerNames) this.#variables.delete(name)
    return this
  }

  /** Throws OutOfBudget. */
  async run({ expression, program, fault }: CompiledExpression): Promise<Outcome> {
    if (program === undefined) return { error: `compilation error: ${fault ?? ""}` }
    const failed = (what: string): Outcome => ({ error: `expression '${expression}' resulted in error: ${what}` })
    try {
      const value = await this.#evaluate(program)
      return value instanceof CelError ? failed(value.message) : { value }
    } finally {
      if (performance.now() - this.#turn > maxTurn) {
        await (this.#input.ctx.turn?.() ?? setImmediate())
        this.#turn = performance.now()
      }
    }
  }

  async #evaluate(program: Program): Promise<Value> {
    for (;;) {
      try {
        const { value, cost } = outcomeOf(program, this.#variables)
        this.#spend(cost + this.#composed.takeCost())
        return value
      } catch (error) {
        if (!(error instanceof Unanswered)) throw error
        await this.#answer(error.query)
      }
    }
  }

  #spend(cost: number): void {
    if (cost > this.#budget) throw new OutOfBudget()
    this.#budget -= cost
  }

  async #answer(query: AuthorizationQuery): Promise<void> {
    const { ctx, answers } = this.#input
    const { serviceAccount, path, ...asked } = query
    const user = serviceAccount === undefined ? ctx.user : userOf(serviceAccount)
    const isResourceRequest = path === undefined
    const attributes = { ...asked, user, isResourceRequest, path: path ?? "", version: isResourceRequest ? "*" : "" }
    const { decision, reason } = await ctx.controlPlane.authorizer.authorize(attributes)
    answers.answer(query, { allowed: decision === "Allow", reason, error: undefined })
  }
}

function userOf({ namespace, name }: { namespace: string; name: string }): User {
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`]
  return { name: serviceAccountUser(namespace, name), groups, extra: {} }
}

/** A call beyond its limit is an error that costs what it spent. */
function outcomeOf(program: Program, variables: Variables): { value: Value; cost: number } {
  try {
    return program.evaluate(variables, perCallLimit)
  } catch (error) {
    if (!(error instanceof CostExceeded)) throw error
    return { value: new CelError(error.message), cost: error.cost }
  }
}

/** A policy's variables: evaluated on first use, with the same input as all its expressions. */
class ComposedVariables extends MapValue {
  readonly typeName = "kubernetes.variables"
  readonly #expressions: ReadonlyMap<string, CompiledExpression>
  readonly #given: { get(name: string): Value | undefined }
  readonly #values = new Map<string, Value>()
  #cost = 0

  constructor(expressions: ReadonlyMap<string, CompiledExpression>, given: { get(name: string): Value | undefined }) {
    super()
    this.#expressions = expressions
    this.#given = given
  }

  get size(): number {
    return this.#expressions.size
  }

  keys(): Value[] {
    return [...this.#expressions.keys()]
  }

  get(key: Value): Value | undefined {
    if (typeof key !== "string") return undefined
    const expression = this.#expressions.get(key)
    if (expression === undefined) return undefined
    const known = this.#values.get(key)
    if (known !== undefined) return known
    const value = this.#evaluate(key, expression)
    this.#values.set(key, value)
    return value
  }

  #evaluate(name: string, { program, fault }: CompiledExpression): Value {
    const about = `composited variable ${JSON.stringify(name)}`
    if (program === undefined) return new CelError(`${about} fails to compile: ${fault ?? ""}`)
    const { value, cost } = outcomeOf(program, this.#given)
    this.#cost += cost
    return value instanceof CelError ? new CelError(`${about} fails to evaluate: ${value.message}`) : value
  }

  /** The cost since the last call. */
  takeCost(): number {
    const cost = this.#cost
    this.#cost = 0
    return cost
  }
}
