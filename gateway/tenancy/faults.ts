// Which failures of a tenant its VirtualCluster reports: those of its own data.

import { errorMessage } from "../../apimachinery/error-message.ts"
import { StatusError } from "../../apimachinery/status.ts"
import { StorageError } from "../../storage/types.ts"

/** `isShared`: the storage may be unavailable as a whole, which is not a fault of one tenant. Undefined: no fault. */
export function faultOf(failure: unknown, isShared: boolean): string | undefined {
  // A StatusError is of the tenant's end: it was deleted.
  if (failure === undefined || failure instanceof StatusError) return undefined
  if (failure instanceof StorageError) {
    const { code } = failure
    if (code === "Closed" || code === "InUse" || (code === "Unavailable" && isShared)) return undefined
  }
  return errorMessage(failure)
}
