// Long work in steps for a request that may have ended meanwhile.

import { timeout } from "../../apimachinery/status.ts"
import type { RequestContext } from "./context.ts"

/** Throws if the request has ended: nobody waits for its response any more. */
export function checkAwaited({ isOver }: Pick<RequestContext, "isOver">): void {
  if (isOver === true) throw timeout("request did not complete within requested timeout")
}

/** Between two steps: lets others have their turn if this one is used up. Throws as checkAwaited. */
export async function takeTurn(ctx: Pick<RequestContext, "pause" | "isOver">): Promise<void> {
  const waiting = ctx.pause?.()
  if (waiting !== undefined) await waiting
  checkAwaited(ctx)
}

/** RequestContext.pause for work that changes nothing yet: behind a pause it throws as checkAwaited. */
export function awaitedPause(ctx: Pick<RequestContext, "pause" | "isOver">): () => Promise<void> | undefined {
  return () => ctx.pause?.()?.then(() => checkAwaited(ctx))
}
