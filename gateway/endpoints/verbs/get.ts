import { badRequest, methodNotAllowed } from "../../../apimachinery/status.ts"
import type { RequestContext } from "../../request/context.ts"
import type { Endpoint } from "../endpoint.ts"
import { expectRenewals, isOfNodeLeases } from "../node-leases.ts"
import { flag } from "../request-options.ts"
import { sendSubresource, sendValue } from "../responses/respond.ts"

/** GET of one object, or of a subresource that is an object. */
export async function get(ctx: RequestContext, endpoint: Endpoint): Promise<void> {
  const { registry, definition, handler, subresource, response } = endpoint
  const { namespace, name } = ctx.info
  const resourceVersion = ctx.query.get("resourceVersion")
  const options = resourceVersion === null || resourceVersion === "" ? {} : { resourceVersion }
  if (flag(ctx.query, "export")) {
    throw badRequest("the export parameter, deprecated since v1.14, is no longer supported")
  }
  if (isOfNodeLeases(ctx)) expectRenewals(ctx)
  if (handler !== undefined) {
    if (handler.get === undefined) throw methodNotAllowed()
    return sendSubresource(ctx, endpoint, 200, await handler.get(ctx, registry, namespace, name, options))
  }
  if (subresource !== undefined && !subresource.verbs.includes("get")) throw methodNotAllowed()
  return sendValue(ctx, response, definition, 200, await registry.get(ctx, namespace, name, options))
}
