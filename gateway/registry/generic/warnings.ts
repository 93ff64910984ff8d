// What a write warns of, and what it does not if the object cannot have what it needs outside the store.

import type { KubeObject } from "../../../apimachinery/object.ts"
import type { RequestContext } from "../../request/context.ts"
import type { Claim } from "../claim.ts"
import type { Strategy } from "../strategy.ts"

/** Returns a function that takes back these warnings and all later ones. */
export function warn(
  ctx: RequestContext,
  strategy: Strategy,
  object: KubeObject,
  current: KubeObject | undefined,
): (() => void) | undefined {
  const takeBack = ctx.markWarnings?.()
  // A write of the status that creates warns as any other create.
  const isStatus = ctx.info.subresource === "status" && current !== undefined
  const warnings = isStatus ? strategy.statusWarnings?.(object) : strategy.warnings?.(ctx, object, current)
  for (const warning of warnings ?? []) ctx.warn(warning)
  return takeBack
}

/** Upstream asks for it before it warns and admits: with what cannot be had, it warns of nothing. */
export async function begin(
  ctx: RequestContext,
  strategy: Strategy,
  object: KubeObject,
  current: KubeObject | undefined,
  takeBack: (() => void) | undefined,
): Promise<Claim | undefined> {
  try {
    return await strategy.begin?.(ctx, object, current)
  } catch (error) {
    takeBack?.()
    throw error
  }
}
