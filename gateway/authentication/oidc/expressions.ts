// The expressions of an authenticator: what claims become of the user, and conditions on claims and on the user. Source:
// k8s.io/apiserver/pkg/authentication/cel.

import { compileIn } from "../../../apimachinery/cel/admission/compile.ts"
import { CostExceeded } from "../../../apimachinery/cel/closures.ts"
import { perCallLimit, type Program } from "../../../apimachinery/cel/program.ts"
import { childrenOf, type Node } from "../../../apimachinery/cel/syntax/ast.ts"
import { parseExpression } from "../../../apimachinery/cel/syntax/parser.ts"
import type { Environment, TypeProvider } from "../../../apimachinery/cel/types/environment.ts"
import {
  anyType,
  boolType,
  listType,
  mapType,
  stringType,
  structType,
  type Type,
} from "../../../apimachinery/cel/types/types.ts"
import { CelError, itemsOf, ListValue, type Value } from "../../../apimachinery/cel/values.ts"
import { dictionary } from "../../../apimachinery/dictionary.ts"
import {
  type FieldError,
  type FieldPath,
  internalFieldError,
  invalidValue,
} from "../../../apimachinery/field-errors.ts"
import type { JWTAuthenticator } from "./types.ts"
import { InvalidToken } from "./invalid-token.ts"

/** An expression with its program. */
export interface Compiled {
  expression: string
  program: Program
}

/** An authenticator that is valid. A mapping by claim has no expression. */
export interface CompiledAuthenticator {
  given: JWTAuthenticator & { issuer: { url: string; audiences: string[] } }
  username?: Compiled
  groups?: Compiled
  uid?: Compiled
  extra: readonly (Compiled & { key: string })[]
  claimRules: readonly (Compiled & { message: string })[]
  userRules: readonly (Compiled & { message: string })[]
}

const texts = listType(stringType)
const userType = "kubernetes.UserInfo"
const userFields: Readonly<Record<string, Type>> = dictionary({
  username: stringType,
  uid: stringType,
  groups: texts,
  extra: mapType(stringType, texts),
})
const noTypes: TypeProvider = { has: () => false, field: () => undefined }
const userTypes: TypeProvider = {
  has: (name) => name === userType,
  field: (name, field) => (name === userType ? userFields[field] : undefined),
}

const environments: Readonly<Record<"claims" | "user", Environment>> = {
  claims: { variables: new Map([["claims", mapType(stringType, anyType)]]), types: noTypes },
  user: { variables: new Map([["user", structType(userType)]]), types: userTypes },
}

/** `as`: "condition" must be a boolean; a "value" is only known when it is evaluated. */
export function compileClaims(
  at: FieldPath,
  expression: string,
  as: "value" | "condition",
): { compiled?: Compiled; errors: FieldError[] } {
  return compile(at, expression, environments.claims, as === "condition" ? [boolType] : [])
}

export function compileUser(at: FieldPath, expression: string): { compiled?: Compiled; errors: FieldError[] } {
  return compile(at, expression, environments.user, [boolType])
}

function compile(
  at: FieldPath,
  expression: string,
  environment: Environment,
  types: readonly Type[],
): { compiled?: Compiled; errors: FieldError[] } {
  const { program, fault = "", internal } = compileIn(environment, expression, types)
  if (program !== undefined) return { compiled: { expression, program }, errors: [] }
  if (internal === true) return { errors: [internalFieldError(at, fault)] }
  // Upstream names the wanted type alone here.
  return { errors: [invalidValue(at, expression, fault.replace(/^(must evaluate to \w+) but got .*$/s, "$1"))] }
}

/** Whether it reads `claims.<field>`. */
export function readsClaim({ expression }: Compiled, field: string): boolean {
  const isClaims = (node: Node | undefined): boolean => node?.kind === "ident" && node.name === "claims"
  const visit = (node: Node): boolean => {
    if (node.kind === "select" && node.field === field && isClaims(node.operand)) return true
    if (node.kind === "call" && node.name === "_?._" && isClaims(node.args[0])) {
      const [, name] = node.args
      if (name?.kind === "literal" && name.value === field) return true
    }
    return childrenOf(node).some(visit)
  }
  const { tree } = parseExpression(expression, false)
  return tree !== undefined && visit(tree)
}

/** The cost budget of all expressions about one token; upstream limits only each. */
const tokenBudget = 10 * perCallLimit

/** Called before what may take long: RequestContext.pause, for requests that have no turns yet. */
export type Pause = () => Promise<void> | undefined

/** Evaluates the expressions about one token. */
export class Evaluation {
  readonly #pause: Pause
  #budget = tokenBudget

  constructor(pause: Pause) {
    this.#pause = pause
  }

  /** Throws InvalidToken with this text before the reason. */
  async run({ expression, program }: Compiled, name: "claims" | "user", input: Value, action: string): Promise<Value> {
    await this.#pause()
    const value = this.#outcome(program, new Map([[name, input]]))
    if (!(value instanceof CelError)) return value
    throw new InvalidToken(`${action}expression '${expression}' resulted in error: ${value.message}`)
  }

  #outcome(program: Program, variables: ReadonlyMap<string, Value>): Value {
    try {
      const { value, cost } = program.evaluate(variables, Math.min(perCallLimit, this.#budget))
      this.#budget -= cost
      return value
    } catch (error) {
      if (!(error instanceof CostExceeded)) throw error
      return new CelError(error.message)
    }
  }
}

/** A text or a list of texts, without the empty ones; null is none. Undefined for anything else. */
export function textsIn(value: Value): string[] | undefined {
  if (value === null) return []
  const items = typeof value === "string" ? [value] : value instanceof ListValue ? [...itemsOf(value)] : undefined
  return items?.every((item) => typeof item === "string") === true ? items.filter((item) => item !== "") : undefined
}
