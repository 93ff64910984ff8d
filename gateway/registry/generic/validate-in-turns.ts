import { expressionsSize } from "../../../apimachinery/cel/expressions-size.ts"
import type { FieldError } from "../../../apimachinery/field-errors.ts"
import type { KubeObject } from "../../../apimachinery/object.ts"
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
  object: KubeObject,
  steps: Steps<FieldError[]>,
): Promise<FieldError[]> {
  const validate = async (): Promise<FieldError[]> => inSteps(validatingWithinBudget(steps), awaitedPause(ctx))
  const compiles = strategy.compiles === true && ctx.info.subresource !== "status" && expressionsSize(object) > 0
  return compiles ? inCompilePlace(ctx, validate) : validate()
}
