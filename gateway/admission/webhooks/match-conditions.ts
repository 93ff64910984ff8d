// matchConditions: expressions that must all be true for a webhook to be called. The evaluator is a parameter. Source:
// k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions/matcher.go.

import { forbidden } from "../../../apimachinery/status.ts"
import { checkAwaited } from "../../request/awaited.ts"
import type { RequestContext } from "../../request/context.ts"
import type { AdmissionAttributes } from "../chain.ts"
import type { Hook, MatchCondition } from "./configuration.ts"
import type { Shown } from "./review.ts"

/**
 * Conditions see the objects as the webhook is shown them. Returns false if a condition is false. Otherwise throws an Error that
 * names a condition that could not be evaluated, if any.
 */
export type EvaluateMatchConditions = (
  ctx: RequestContext,
  conditions: readonly MatchCondition[],
  attributes: AdmissionAttributes,
  shown: Shown,
) => boolean | Promise<boolean>

/** `show`: called if there are conditions; what it throws is not theirs. Throws as checkAwaited, whatever the failure policy is. */
export async function meetsConditions(
  ctx: RequestContext,
  { webhook }: Hook,
  attributes: AdmissionAttributes,
  show: () => Promise<Shown>,
  evaluate: EvaluateMatchConditions | undefined,
): Promise<boolean> {
  const { matchConditions = [], failurePolicy } = webhook
  if (matchConditions.length === 0) return true
  const shown = await show()
  try {
    if (evaluate === undefined) throw new Error("match conditions are not evaluated by this control plane")
    return await evaluate(ctx, matchConditions, attributes, shown)
  } catch (error) {
    checkAwaited(ctx)
    if (failurePolicy === "Ignore") return false
    throw forbidden(attributes.resource, attributes.name, (error as Error).message)
  }
}
