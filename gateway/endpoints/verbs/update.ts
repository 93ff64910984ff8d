import { methodNotAllowed } from "../../../apimachinery/status.ts"
import type { RequestContext } from "../../request/context.ts"
import { decodeBody } from "../body.ts"
import { agreeOnName, expectedNamespace } from "../body-path.ts"
import { agreeOnNamespace } from "../../registry/generic/metadata.ts"
import { admitUpdate } from "./admit-update.ts"
import { expectedOf } from "../expected.ts"
import { dropRepeatedOwners } from "../../registry/generic/owner-references.ts"
import type { Endpoint } from "../endpoint.ts"
import { readBody } from "../request-body.ts"
import { writeOptions } from "../request-options.ts"
import { sendSubresource, sendValue } from "../responses/respond.ts"
import { subresourceBody } from "./create.ts"

/** PUT of an object, its status, or a subresource that can be replaced (scale). */
export async function update(ctx: RequestContext, endpoint: Endpoint): Promise<void> {
  const { registry, definition, handler, subresource, exchange, response } = endpoint
  const { namespace, name } = ctx.info
  if (subresource !== undefined && !subresource.verbs.includes("update")) throw methodNotAllowed()
  const body = await readBody(ctx, exchange.request, endpoint.maxBodyBytes)
  const options = writeOptions(ctx, "UpdateOptions")
  const expected = handler === undefined ? expectedOf(definition) : subresourceBody(endpoint)
  const object = await decodeBody(ctx, body, expected, options.fieldValidation)
  agreeOnNamespace(object, expectedNamespace(definition, namespace))
  agreeOnName(object, name)
  dropRepeatedOwners(ctx, object, "sent")
  const admit = admitUpdate(ctx, definition, options.dryRun)
  // After a conflict the update starts over; each attempt gets its own object.
  let first: typeof object | undefined = object
  const change = async () => {
    if (first !== undefined) {
      const own = first
      first = undefined
      return own
    }
    const again = await decodeBody(ctx, body, expected, options.fieldValidation)
    agreeOnNamespace(again, expectedNamespace(definition, namespace))
    dropRepeatedOwners(ctx, again, "sent")
    return again
  }
  if (handler !== undefined) {
    if (handler.update === undefined) throw methodNotAllowed()
    return sendSubresource(
      ctx,
      endpoint,
      200,
      await handler.update(ctx, registry, namespace, name, change, options, admit),
    )
  }
  const write = { ...options, readsCurrent: true }
  const { value, created } = await registry.update(ctx, namespace, name, change, write, admit)
  await ctx.pause?.()
  return sendValue(ctx, response, definition, created ? 201 : 200, value)
}
