import type { Json } from "../../../apimachinery/object.ts"
import { methodNotAllowed } from "../../../apimachinery/status.ts"
import { writeZeros } from "../../../apimachinery/schema/decode/decode.ts"
import { schemaOf } from "../../../apimachinery/schema/facts.ts"
import type { RequestContext } from "../../request/context.ts"
import { admitFor } from "../../admission/admit.ts"
import { checkMediaType, decodeBody } from "../body.ts"
import { expectedNamespace } from "../body-path.ts"
import { expectedOf, type Expected } from "../expected.ts"
import type { Endpoint } from "../endpoint.ts"
import { olderScales } from "../../../apimachinery/schema/older-types.ts"
import { readBody } from "../request-body.ts"
import { writeOptions } from "../request-options.ts"
import { recordWrite } from "../../registry/generic/managed-fields/field-management.ts"
import { agreeOnNamespace, wipeSystemFields } from "../../registry/generic/metadata.ts"
import { dropRepeatedOwners } from "../../registry/generic/owner-references.ts"
import { managedKind } from "../../registry/generic/managed-fields/managed-kind.ts"
import { createSubresource } from "../../registry/generic/subresource-create.ts"
import { sendReview, sendSubresource, sendValue } from "../responses/respond.ts"

/** POST to a collection, or to a subresource (binding, eviction, token). */
export async function create(ctx: RequestContext, endpoint: Endpoint): Promise<void> {
  const { registry, definition, handler, exchange, response } = endpoint
  const { namespace, name, subresource } = ctx.info
  checkMediaType(ctx)
  const body = await readBody(ctx, exchange.request, endpoint.maxBodyBytes)
  const options = writeOptions(ctx, "CreateOptions")
  const admit = admitFor(ctx, definition, { operation: "CREATE", subresource, namespace, name, dryRun: options.dryRun })
  if (subresource !== "") {
    if (handler?.create === undefined) throw methodNotAllowed()
    const kind = subresourceBody(endpoint)
    const object = await decodeBody(ctx, body, kind, options.fieldValidation)
    agreeOnNamespace(object, namespace)
    const target = { registry, handler, subresource, kind, namespace, name }
    return sendSubresource(ctx, endpoint, 201, await createSubresource(ctx, target, object, options, admit))
  }
  const object = await decodeBody(ctx, body, expectedOf(definition), options.fieldValidation)
  agreeOnNamespace(object, expectedNamespace(definition, namespace))
  if (definition.answer !== undefined) {
    wipeSystemFields(object)
    dropRepeatedOwners(ctx, object, "sent")
    await recordWrite(managedKind(ctx, definition, ""), object, undefined, options)
    await admit.mutate(object, undefined)
    writeZeros(definition.schema, object as unknown as Json, false)
    const validate = (): Promise<void> => admit.validate(object, undefined)
    return sendReview(ctx, response, definition, await definition.answer(ctx, object, options, validate))
  }
  dropRepeatedOwners(ctx, object, "sent")
  const value = await registry.create(ctx, object, options, admit)
  await ctx.pause?.()
  return sendValue(ctx, response, definition, 201, value)
}

/** The kind that a subresource accepts, often of another group (Eviction, TokenRequest, Binding). */
export function subresourceBody({
  subresource,
  definition,
  handler,
}: Pick<Endpoint, "subresource" | "definition" | "handler">): Expected {
  if (subresource === undefined) throw methodNotAllowed()
  const { group, version, kind } = subresource
  if (kind === definition.kind && group === definition.group) return expectedOf(definition)
  const schema = schemaOf({ group, version, kind })
  if (schema === undefined) throw new Error(`no schema for ${group}/${version} ${kind}`)
  const body = { group, version, kind, schema }
  const alike = handler?.alike
  if (definition.customResource === undefined) return alike === undefined ? body : { ...body, alike }
  // Upstream looks for the undecodable type in the scheme of the definition, which does not contain Scale.
  const refusal = `no kind is registered for the type ${version}.${kind}`
  return { ...body, refusal, mayLackVersion: true, unconverted: olderScales(schema) }
}
