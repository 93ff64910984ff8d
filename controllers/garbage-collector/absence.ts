// When an error says that an object does not exist.

import { isNotFound } from "../../apimachinery/status.ts"
import type { DiscoveredResource, Resource } from "../../client/rest.ts"
import { isTenantGone } from "../tenant-gone.ts"

/**
 * A path that is not served is not found either, which says nothing of objects: their version may not be served any more. Nor does a
 * tenant that is gone. The server of an aggregated API need not say what it has not found.
 */
export function isAbsence(error: unknown, { resource, isAggregated }: Resource & Partial<DiscoveredResource>): boolean {
  if (!isNotFound(error)) return false
  const { details } = error.status
  if (isTenantGone(error) && details?.kind !== resource) return false
  return details === undefined ? isAggregated === true : details.name !== undefined
}
