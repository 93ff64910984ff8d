import type { RequestContext } from "../../request/context.ts"
import type { Endpoint } from "../endpoint.ts"
import { expectRenewals, isOfNodeLeases } from "../node-leases.ts"
import { listOptions } from "../request-options.ts"
import { sendList, sendStream, wantsStream } from "../responses/respond.ts"

/** GET of a collection. Without a limit the number of objects is unbounded, so they are streamed. */
export async function list(ctx: RequestContext, endpoint: Endpoint): Promise<void> {
  const { registry, definition, response, maxGatheredObjects, maxGatheredBytes, runs } = endpoint
  const answer = { ctx, response, definition, runs }
  const options = listOptions(ctx)
  if (isOfNodeLeases(ctx)) expectRenewals(ctx)
  if (options.limit === undefined && wantsStream(ctx, definition)) {
    await sendStream(answer, await registry.stream(ctx, options))
  } else {
    await sendList(
      answer,
      await registry.list(ctx, { ...options, atMost: maxGatheredObjects, atMostBytes: maxGatheredBytes }),
    )
  }
}
