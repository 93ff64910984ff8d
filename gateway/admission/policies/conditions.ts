// matchConditions of webhooks and policies. Source: k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions/matcher.go.

import { type CompiledExpression, compileMatchCondition } from "../../../apimachinery/cel/admission/compile.ts"
import { aggregateMessage } from "../../../apimachinery/error-message.ts"
import { takeTurn } from "../../request/awaited.ts"
import type { EvaluateMatchConditions } from "../webhooks/match-conditions.ts"
import { Evaluation } from "./evaluation.ts"
import { PolicyInput } from "./input.ts"

const noVariables: ReadonlyMap<string, CompiledExpression> = new Map()

export const evaluateMatchConditions: EvaluateMatchConditions = async (ctx, conditions, attributes, shown) => {
  const compiled: CompiledExpression[] = []
  for (const { expression } of conditions) {
    compiled.push(compileMatchCondition(expression))
    await takeTurn(ctx)
  }
  const input = new PolicyInput(ctx, attributes, shown)
  return meetsAll(await Evaluation.ofConditions(input, shown.definition, noVariables), compiled)
}

/** No condition is false, and some could not be evaluated. */
export class ConditionsFault extends Error {}

/**
 * Returns false if a condition is false, regardless of errors in others. Throws ConditionsFault if there are errors and none is
 * false.
 */
export async function meetsAll(evaluation: Evaluation, conditions: readonly CompiledExpression[]): Promise<boolean> {
  const errors: string[] = []
  let meets = true
  for (const condition of conditions) {
    const { value, error } = await evaluation.run(condition)
    if (error !== undefined) errors.push(error)
    else if (value === false) meets = false
  }
  if (!meets) return false
  if (errors.length > 0) throw new ConditionsFault(aggregateMessage(errors))
  return true
}
