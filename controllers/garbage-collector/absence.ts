// When an error says that an object does not exist.

import { isNotFound } from "../../apimachinery/status.ts"

/** A path that is not served is not found either, which says nothing of objects: their version may not be served any more. */
export function isAbsence(error: unknown): boolean {
  return isNotFound(error) && error.status.details?.name !== undefined
}
