import type { FieldError } from "../../../apimachinery/field-errors.ts"
import { inSteps, type Steps } from "../../../apimachinery/steps.ts"
import { validatingWithinBudget } from "../../../apimachinery/validation-budget.ts"
import { awaitedPause } from "../../request/awaited.ts"
import { inCompilePlace } from "../../request/compile-place.ts"
import type { RequestContext } from "../../request/context.ts"
import type { ResourceDefinition } from "../rest.ts"

/**
 * Validates an object in steps, with turns for others between them. Throws if the request ends meanwhile, also while it waits for its
 * control plane's place.
 */
export async function validateInTurns(
  ctx: RequestContext,
  { strategy }: ResourceDefinition,
  steps: Steps<FieldError[]>,
): Promise<FieldError[]> {
  const validate = async (): Promise<FieldError[]> => inSteps(validatingWithinBudget(steps), awaitedPause(ctx))
  return strategy.compiles === true ? inCompilePlace(ctx, validate) : validate()
}
