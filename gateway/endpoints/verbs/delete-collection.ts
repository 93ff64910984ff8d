import type { ObjectMeta } from "../../../apimachinery/object.ts"
import { isNotFound, timeout } from "../../../apimachinery/status.ts"
import type { RequestContext } from "../../request/context.ts"
import { checkListOptions } from "../../registry/generic/list-watch/list-options.ts"
import { warnOfPropagation } from "../../registry/generic/store.ts"
import { selectionOf } from "../../registry/generic/list-watch/selection.ts"
import type { DeleteRequest, ListOptions, ListResult, Registry, ResourceDefinition } from "../../registry/rest.ts"
import { admitFor } from "../../admission/admit.ts"
import { readBody } from "../request-body.ts"
import type { Endpoint } from "../endpoint.ts"
import { namespaceRequired } from "../routes.ts"
import { deleteRequest, listOptions } from "../request-options.ts"
import { sendList } from "../responses/respond.ts"

/** Concurrent deletes; one after the other, as upstream, if the tenant can tell the difference. */
const parallel = 16

/** DELETE of a collection: deletes the selected objects of a snapshot and returns that list. */
export async function deleteCollection(ctx: RequestContext, endpoint: Endpoint): Promise<void> {
  const { registry, definition, exchange, response, runs } = endpoint
  const options = listOptions(ctx)
  // Invalid selectors are reported before errors in the body.
  checkListOptions(options)
  selectionOf(definition, options)
  const request = deleteRequest(ctx, await readBody(ctx, exchange.request, endpoint.maxBodyBytes))
  const list = await deleteSelected(ctx, registry, definition, options, request)
  await sendList({ ctx, response, definition, runs }, list)
}

/** Upstream lists pages, for which a resource version is an exact one, unless only one object is selected. Source: Store.DeleteCollection. */
function asPages(definition: ResourceDefinition, options: ListOptions): ListOptions {
  const { limit, resourceVersion = "0", resourceVersionMatch, continue: token } = options
  const isGiven = limit === undefined && resourceVersion !== "0" && resourceVersionMatch === undefined && !token
  const isExact = isGiven && selectionOf(definition, options).key === undefined
  return isExact ? { ...options, resourceVersionMatch: "Exact" } : options
}

/** Stops at the first error, or when the client disconnects, and waits for the deletes in progress. */
export async function deleteSelected(
  ctx: RequestContext,
  registry: Registry,
  definition: ResourceDefinition,
  options: ListOptions,
  request: DeleteRequest,
): Promise<ListResult> {
  warnOfPropagation(ctx, definition, request)
  const list = await registry.list(ctx, asPages(definition, options))
  const { items } = list
  // With an empty namespace in its path the list is that of all namespaces, but objects have no key without theirs.
  if (definition.namespaced && options.namespace === "" && items.length > 0) throw namespaceRequired()
  let next = 0
  let failure: unknown
  const work = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined && failure === undefined; item = items[next++]) {
      await ctx.pause?.() // each object to delete is parsed first
      if (ctx.signal.aborted) throw timeout("request did not complete within requested timeout")
      await deleteOne(ctx, registry, item.object().metadata, request)
    }
  }
  const fail = (error: unknown): void => {
    failure ??= error
  }
  const workers = ctx.controlPlane.admission.isVisible ? 1 : parallel
  await Promise.all(Array.from({ length: Math.min(workers, items.length) }, () => work().catch(fail)))
  if (failure !== undefined) throw failure
  return list
}

/** Admission receives the request for the collection; the object identifies which one is deleted. */
async function deleteOne(
  ctx: RequestContext,
  registry: Registry,
  { namespace = "", name = "" }: ObjectMeta,
  request: DeleteRequest,
): Promise<void> {
  const { dryRun } = request
  const collection = { operation: "DELETE", subresource: "", namespace, name: "", dryRun, deletion: request } as const
  await registry
    .delete(ctx, namespace, name, request, admitFor(ctx, registry.definition, collection))
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error // another client deleted it, which achieves the same
    })
}
