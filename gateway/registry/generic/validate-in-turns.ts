// Validates an object in steps, with turns for others between them. What some kinds compile meanwhile takes many times the memory of the
// object, and without a limit all requests in flight would hold that at the same time.

import { expressionsSize } from "../../../apimachinery/cel/expressions-size.ts"
import { FairPlaces } from "../../../apimachinery/fair-places.ts"
import type { FieldError } from "../../../apimachinery/field-errors.ts"
import type { Json, KubeObject } from "../../../apimachinery/object.ts"
import { isLarge } from "../../../apimachinery/schema/large-values.ts"
import { inSteps, type Steps } from "../../../apimachinery/steps.ts"
import { validatingWithinBudget } from "../../../apimachinery/validation-budget.ts"
import { awaitedPause, checkAwaited } from "../../request/awaited.ts"
import type { RequestContext } from "../../request/context.ts"
import type { Presence } from "../../tenancy/presence.ts"
import type { ResourceDefinition } from "../rest.ts"

/** Large objects of kinds that compile: so many are validated at the same time, and of each control plane one. */
export const largeValidations = 2
const places = new FairPlaces<Presence>({ all: largeValidations, each: 1 })
/** Characters of expressions, which are compiled to some seventy bytes each. Objects with more, or with very many values, are large. */
const largeExpressions = 32 * 1024

/** `steps` are those of the object. Throws if the request ends meanwhile, also while it waits for a place. */
export async function validateInTurns(
  ctx: RequestContext,
  { strategy }: ResourceDefinition,
  object: KubeObject,
  steps: Steps<FieldError[]>,
): Promise<FieldError[]> {
  const validate = async (): Promise<FieldError[]> => inSteps(validatingWithinBudget(steps), awaitedPause(ctx))
  // Without pauses there is never more than one.
  if (ctx.pause === undefined || strategy.compiles !== true || !takesMemory(object)) return validate()
  try {
    return await places.run(ctx.controlPlane.presence, validate, ctx.signal)
  } catch (error) {
    checkAwaited(ctx)
    throw error
  }
}

function takesMemory(object: KubeObject): boolean {
  return isLarge(object as unknown as Json) || expressionsSize(object) > largeExpressions
}
