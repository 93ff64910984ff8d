// Of each control plane, one request at a time compiles expressions in steps. What they are compiled to takes many times the memory of
// their texts, and without a limit all requests in flight would hold that at the same time. Who has the place waits for its turns
// as all of its control plane, so the place is that control plane's own: others do not wait for it.

import { FairPlaces } from "../../apimachinery/fair-places.ts"
import type { Presence } from "../tenancy/presence.ts"
import { checkAwaited } from "./awaited.ts"
import type { RequestContext } from "./context.ts"

const places = new FairPlaces<Presence>({ all: Infinity, each: 1 })

/**
 * Throws as checkAwaited if the request ends before its work begins. Administrators' requests, which have no pauses, and the gateway's own
 * parts, which may not wait behind clients and are few, need no place.
 */
export async function inCompilePlace<T>(
  ctx: Pick<RequestContext, "pause" | "enlarge" | "isOver" | "signal" | "controlPlane">,
  work: () => Promise<T>,
): Promise<T> {
  if (ctx.pause === undefined || ctx.enlarge === undefined) return work()
  try {
    return await places.run(ctx.controlPlane.presence, work, ctx.signal)
  } catch (error) {
    checkAwaited(ctx)
    throw error
  }
}
