// Translates etcd's errors to StorageErrors.

import { type ServiceError, status } from "@grpc/grpc-js"
import { compactedError } from "../transaction.ts"
import { StorageError, type Revision } from "../types.ts"
import { isServiceError } from "./client.ts"

/** `asked` and `compacted` are for messages about revisions. Unknown errors are returned unchanged. */
export function storageError(error: unknown, asked: Revision | undefined, compacted: Revision): unknown {
  if (!isServiceError(error)) return error
  const { code, details } = error
  const cause = { cause: error }
  if (code === status.OUT_OF_RANGE && /compacted/.test(details)) return compactedError(asked ?? 0, compacted)
  if (code === status.OUT_OF_RANGE && /future/.test(details))
    return new StorageError("FutureRevision", `revision ${asked} is not there yet`, cause)
  if (isTooLarge(error)) return new StorageError("TooLarge", details, cause)
  // The client ends some of its details with an empty note.
  return new StorageError("Unavailable", `etcd: ${details.replace(/\. Resolution note: $/, "")}`, cause)
}

/** The server of etcd refuses by itself what is larger than --max-request-bytes and half a MiB. */
function isTooLarge({ code, details }: ServiceError): boolean {
  if (code === status.RESOURCE_EXHAUSTED) return /received message larger than max/.test(details)
  return code === status.INVALID_ARGUMENT && /too large|too many operations/.test(details)
}
