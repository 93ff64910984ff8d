// The entry point of this folder: compiles an expression once, and evaluates it repeatedly with a cost limit.

import { countPath, validationLimits } from "../validation-budget.ts"
import { checkTree } from "./types/check.ts"
import type { CheckedTree } from "./types/checked-tree.ts"
import type { Environment } from "./types/environment.ts"
import { type Issue, printIssues } from "./syntax/issues.ts"
import { parseExpression } from "./syntax/parser.ts"
import { CostExceeded, type Frame, type Run } from "./closures.ts"
import { Crash } from "./cost/runtime-cost.ts"
import { type Plan, PlanFault, planTree } from "./plan.ts"
import { dynType, type Type } from "./types/types.ts"
import { literalIssues } from "./types/validate-literals.ts"
import { CelError, type Value } from "./values.ts"
import { begin, end, Interrupted } from "./work.ts"

/** Cost limit of one expression. Source: k8s.io/apiserver/pkg/apis/cel. */
export const perCallLimit = 1_000_000

interface Evaluation {
  /** A CelError if it failed. */
  value: Value
  cost: number
}

export interface Variables {
  get(name: string): Value | undefined
}

/** It keeps nothing of the checked tree, which takes several times as much memory and is of no use for evaluation. */
export class Program {
  readonly type: Type
  readonly #plan: Plan

  constructor(type: Type, plan: Plan) {
    this.type = type
    this.#plan = plan
  }

  /** Throws CostExceeded beyond the limit, and Unanswered for an authorization check (authorizer.ts). */
  evaluate(variables: Variables, limit = perCallLimit): Evaluation {
    const frame: Frame = { variables, locals: Array.from({ length: this.#plan.slots }, () => null), cost: 0, limit }
    begin()
    try {
      return { value: valueOf(this.#plan.run, frame), cost: frame.cost }
    } catch (error) {
      if (error instanceof Interrupted) throw new CostExceeded(frame.cost, error.message)
      throw error
    } finally {
      end()
    }
  }
}

function resultOf({ types, tree }: CheckedTree): Type {
  return types.get(tree) ?? dynType
}

function valueOf(run: Run, frame: Frame): Value {
  try {
    return run(frame)
  } catch (error) {
    if (error instanceof Crash) return new CelError(`internal error: ${error.message}`)
    throw error
  }
}

/**
 * `issues`: formatted for users. `fault`: the expression is valid, but evaluating its constants fails; upstream tells before if its type
 * is not the wanted one.
 */
type Compilation =
  | { program: Program; type: Type; issues?: undefined; fault?: undefined; checked: CheckedTree }
  | { program?: undefined; type?: undefined; issues: string; fault?: undefined; checked?: undefined }
  | { program?: undefined; type: Type; issues?: undefined; fault: string; checked: CheckedTree }

export function compileExpression(source: string, environment: Environment): Compilation {
  countPath(validationLimits.pathsOfExpression)
  const parsed = parseExpression(source, environment.functions?.has("cel.bind") === true)
  if (parsed.tree === undefined || parsed.issues.length > 0) return failed(source, parsed.issues)
  const { checked, issues } = checkTree(parsed.tree, environment)
  if (issues.length > 0) return failed(source, issues)
  const literals = literalIssues(checked)
  if (literals.length > 0) return failed(source, literals)
  const type = resultOf(checked)
  try {
    return { program: new Program(type, planTree(checked, environment)), type, checked }
  } catch (error) {
    if (error instanceof PlanFault) return { fault: error.message, type, checked }
    throw error
  }
}

function failed(source: string, issues: readonly Issue[]): Compilation {
  return { issues: printIssues(source, issues) }
}
