// The point in time that a list or watch requests, validated as upstream. Source:
// k8s.io/apimachinery/pkg/apis/meta/internalversion/validation.

import { uintFault } from "../../../../apimachinery/go/integers.ts"
import { goQuote } from "../../../../apimachinery/go/quote.ts"
import { type FieldError, FieldPath, forbiddenField, notSupported } from "../../../../apimachinery/field-errors.ts"
import { parseFieldSelector } from "../../../../apimachinery/fields.ts"
import { parseSelector } from "../../../../apimachinery/labels.ts"
import {
  badRequest,
  invalid,
  resourceVersionTooLarge,
  StatusError,
  unexplained,
} from "../../../../apimachinery/status.ts"
import type { Store } from "../../../../storage/types.ts"
import type { ListOptions, WatchRequest } from "../../rest.ts"
import { readError } from "../storage/storage-errors.ts"

const match = FieldPath.root("resourceVersionMatch")
const listOptions = { group: "meta.k8s.io", kind: "ListOptions" }

/**
 * Returns undefined for "" and "0": they differ only in their guarantees, and responses are always from the latest revision.
 * Numbers beyond the range of revisions are rejected as written. Source: APIObjectVersioner.ParseResourceVersion.
 */
export function parseResourceVersion(text: string | undefined): number | undefined {
  if (text === undefined || text === "" || text === "0") return undefined
  const revision = Number(text)
  const fault = uintFault(text)
  if (fault !== undefined) throw unexplained(faultOf(text, fault))
  return revision === 0 ? undefined : revision
}

/** For lists, where the error is a BadRequest. */
export function parseListResourceVersion(text: string | undefined): number | undefined {
  try {
    return parseResourceVersion(text)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    throw badRequest(`invalid resource version: ${error.message}`, { cause: error })
  }
}

function faultOf(text: string, fault: string): string {
  const quoted = goQuote(text)
  return `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: ${fault}`
}

/**
 * A revision that does not exist yet cannot be served: the client has read it from another store. Another gateway on the same
 * storage may have written it, so the store is queried before it is rejected. `written`: the client's text.
 */
export function checkNotFuture(
  revision: number | undefined,
  store: Pick<Store, "revision" | "latest">,
  written = String(revision),
): Promise<void> | undefined {
  return revision === undefined || revision <= store.revision ? undefined : refuseFuture(revision, store, written)
}

async function refuseFuture(revision: number, store: Pick<Store, "latest">, written: string): Promise<void> {
  const latest = await store.latest().catch((error: unknown) => {
    throw readError(error, `resource version ${revision}`)
  })
  if (revision > latest) throw resourceVersionTooLarge(BigInt(written), latest)
}

export function checkListOptions(options: ListOptions): void {
  const errors: FieldError[] = []
  const wanted: string | undefined = options.resourceVersionMatch
  if (wanted) {
    if (!options.resourceVersion) {
      errors.push(forbiddenField(match, "resourceVersionMatch is forbidden unless resourceVersion is provided"))
    }
    if (options.continue) {
      errors.push(forbiddenField(match, "resourceVersionMatch is forbidden when continue is provided"))
    }
    if (wanted !== "Exact" && wanted !== "NotOlderThan") {
      errors.push(notSupported(match, wanted, ["Exact", "NotOlderThan", ""]))
    }
    if (wanted === "Exact" && options.resourceVersion === "0") {
      errors.push(forbiddenField(match, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
    }
  }
  if (options.sendInitialEvents !== undefined) {
    errors.push(forbiddenField(FieldPath.root("sendInitialEvents"), "sendInitialEvents is forbidden for list"))
  }
  refuse(options, errors)
}

/** Invalid selectors are reported before all other errors. */
function refuse(
  { labelSelector = "", fieldSelector = "" }: Pick<ListOptions, "labelSelector" | "fieldSelector">,
  errors: FieldError[],
): void {
  if (errors.length === 0) return
  parseSelector(labelSelector)
  parseFieldSelector(fieldSelector)
  throw invalid(listOptions, "", errors)
}

/** Called after the token itself has been decoded. */
export function checkContinue({ resourceVersion }: ListOptions): void {
  if (resourceVersion && resourceVersion !== "0")
    throw badRequest("specifying resource version is not allowed when using continue")
}

/** Upstream's cache, which serves "any version" and what follows a page, then pays no heed to a limit; events are not cached. */
export function limitOf({ limit = 0, resourceVersion }: ListOptions, resource: string): number {
  const isCached = resourceVersion === "0" && resource !== "events"
  return isCached ? 0 : Math.max(limit, 0)
}

export function checkWatchOptions(request: WatchRequest): void {
  const { resourceVersionMatch, sendInitialEvents } = request
  const errors: FieldError[] = []
  if (sendInitialEvents !== undefined && resourceVersionMatch !== "NotOlderThan") {
    errors.push(forbiddenField(match, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"))
  }
  if (resourceVersionMatch) {
    if (sendInitialEvents === undefined) {
      errors.push(
        forbiddenField(match, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"),
      )
    }
    if (resourceVersionMatch !== "NotOlderThan") {
      errors.push(notSupported(match, resourceVersionMatch, ["NotOlderThan"]))
    }
    if (request.continue) {
      errors.push(forbiddenField(match, "resourceVersionMatch is forbidden when continue is provided"))
    }
  }
  refuse(request, errors)
}
