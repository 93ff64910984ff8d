import type { RequestContext } from "../../request/context.ts"
import type { Endpoint } from "../endpoint.ts"
import { listOptions } from "../request-options.ts"
import { sendList } from "../respond.ts"

/** GET of a collection. */
export async function list(ctx: RequestContext, { registry, definition, response }: Endpoint): Promise<void> {
  await sendList(ctx, response, definition, await registry.list(ctx, listOptions(ctx)))
}
