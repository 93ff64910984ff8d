import type { RequestContext } from "../../request/context.ts"
import type { Endpoint } from "../endpoint.ts"
import { listOptions } from "../request-options.ts"
import { sendList, sendStream, wantsStream } from "../respond.ts"

/** GET of a collection. Without a limit it may be any number of objects, so they are not gathered. */
export async function list(ctx: RequestContext, endpoint: Endpoint): Promise<void> {
  const { registry, definition, response, maxGatheredObjects } = endpoint
  const options = listOptions(ctx)
  if (options.limit === undefined && wantsStream(ctx, definition)) {
    await sendStream(ctx, response, definition, await registry.stream(ctx, options))
  } else {
    await sendList(ctx, response, definition, await registry.list(ctx, { ...options, atMost: maxGatheredObjects }))
  }
}
