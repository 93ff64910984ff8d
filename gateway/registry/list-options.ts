// Which point in time a list or watch is asked for, checked as upstream does.
// Source: k8s.io/apimachinery/pkg/apis/meta/internalversion/validation.

import { type FieldError, FieldPath, forbiddenField, notSupported } from "../../apimachinery/field-errors.ts"
import { badRequest, invalid, resourceVersionTooLarge } from "../../apimachinery/status.ts"
import type { ListOptions, WatchRequest } from "./rest.ts"

const match = FieldPath.root("resourceVersionMatch")
const listOptions = { group: "meta.k8s.io", kind: "ListOptions" }

/** undefined: none given ("" and "0" differ only in what they promise, and we always answer with the latest). */
export function parseResourceVersion(text: string | undefined): number | undefined {
  if (text === undefined || text === "" || text === "0") return undefined
  const revision = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(revision)) {
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    )
  }
  return revision
}

/** A revision that has not been written cannot be answered: the client has spoken to another store, or to the future. */
export function checkNotFuture(revision: number | undefined, current: number): void {
  if (revision !== undefined && revision > current) throw resourceVersionTooLarge(revision, current)
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
  if (errors.length > 0) throw invalid(listOptions, "", errors)
  if (options.continue && options.resourceVersion && options.resourceVersion !== "0") {
    throw badRequest("specifying resource version is not allowed when using continue")
  }
}

export function checkWatchOptions({ resourceVersionMatch, sendInitialEvents }: WatchRequest): void {
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
  }
  if (errors.length > 0) throw invalid(listOptions, "", errors)
}
