// matchConditions: expressions that all have to hold for a webhook to be called. Who evaluates them is handed in.
// Source: k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions/matcher.go.

import { forbidden } from "../../../apimachinery/status.ts"
import type { RequestContext } from "../../request/context.ts"
import type { AdmissionAttributes } from "../chain.ts"
import type { Hook, MatchCondition } from "./configuration.ts"

/** false: some condition is false. Throws Error saying which condition could not be evaluated, when none is false. */
export type EvaluateMatchConditions = (
  ctx: RequestContext,
  conditions: readonly MatchCondition[],
  attributes: AdmissionAttributes,
) => boolean | Promise<boolean>

export async function meetsConditions(
  ctx: RequestContext,
  { webhook }: Hook,
  attributes: AdmissionAttributes,
  evaluate: EvaluateMatchConditions | undefined,
): Promise<boolean> {
  const { matchConditions = [], failurePolicy } = webhook
  if (matchConditions.length === 0) return true
  try {
    if (evaluate === undefined) throw new Error("match conditions are not evaluated by this control plane")
    return await evaluate(ctx, matchConditions, attributes)
  } catch (error) {
    if (failurePolicy === "Ignore") return false
    throw forbidden(attributes.resource, attributes.name, (error as Error).message)
  }
}
