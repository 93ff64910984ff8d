import { forbidden, methodNotAllowed, success } from "../../../apimachinery/status.ts"
import type { RequestContext } from "../../request/context.ts"
import { admitFor } from "../../admission/admit.ts"
import { readBody } from "../request-body.ts"
import type { Endpoint } from "../endpoint.ts"
import { deleteRequest } from "../request-options.ts"
import { sendObject, sendValue } from "../responses/respond.ts"

/** DELETE of an object: returns a Status if it was deleted, or the object while finalizers or a grace period keep it. */
export async function remove(ctx: RequestContext, endpoint: Endpoint): Promise<void> {
  const { registry, definition, exchange, response, subresource } = endpoint
  if (subresource !== undefined) throw methodNotAllowed()
  const { namespace, name } = ctx.info
  const request = deleteRequest(ctx, await readBody(ctx, exchange.request, endpoint.maxBodyBytes))
  const kept = definition.strategy.keptBecause?.(name)
  if (kept !== undefined) throw forbidden(definition, name, kept)
  const admit = admitFor(ctx, definition, {
    operation: "DELETE",
    subresource: "",
    namespace,
    name,
    dryRun: request.dryRun,
  })
  const { gone, value, isBlank } = await registry.delete(ctx, namespace, name, request, admit)
  if (!gone || isBlank === true || definition.returnsDeletedObject === true) {
    // As upstream, a pending deletion is answered with 202 only if it was requested with the deprecated orphanDependents=false.
    return sendValue(ctx, response, definition, !gone && request.orphanDependents === false ? 202 : 200, value)
  }
  const { uid } = value.object().metadata
  const { group, resource } = definition
  return sendObject(
    ctx,
    response,
    200,
    success({ name, ...(group === "" ? {} : { group }), kind: resource, ...(uid === undefined ? {} : { uid }) }),
  )
}
