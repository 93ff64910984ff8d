// Converts StorageErrors to StatusErrors. No other file does.

import {
  expired,
  forbidden,
  type GroupResource,
  internalError,
  requestEntityTooLarge,
  restated,
  serviceUnavailable,
  type StatusError,
} from "../../../../apimachinery/status.ts"
import { endsWithin, systemClock } from "../../../../client/clock.ts"
import { StorageError, type Store } from "../../../../storage/types.ts"
import { storageKey, storagePrefixOf } from "./keys.ts"

/** `attempt` describes the operation and its target: `get pods "a/b"`. Returns the error to throw; unknown errors are unchanged. */
export function readError(error: unknown, attempt: string): unknown {
  if (!(error instanceof StorageError)) return error
  if (error.code === "Compacted") return expired("The provided resource version is too old.", { cause: error })
  return general(error, attempt)
}

/**
 * A revision that does not exist yet is from an earlier life of the store. Upstream waits for it, possibly forever; 410 makes the
 * client list again.
 */
export function watchError(error: unknown, attempt: string, revisions: string): unknown {
  if (!(error instanceof StorageError)) return error
  if (error.code === "Compacted") return expired(`too old resource version: ${revisions}`, { cause: error })
  if (error.code === "FutureRevision") return expired(`too large resource version: ${revisions}`, { cause: error })
  return general(error, attempt)
}

export function writeError(error: unknown, attempt: string, resource: GroupResource, name: string): unknown {
  if (!(error instanceof StorageError)) return error
  if (error.code === "QuotaExceeded") return restated(forbidden(resource, name, error.message), {}, { cause: error })
  if (error.code === "TooLarge") return requestEntityTooLarge(`Request entity too large: ${error.message}`)
  return general(error, attempt)
}

function general(error: StorageError, attempt: string): StatusError {
  switch (error.code) {
    case "Unavailable":
      // The location of the store and the system's error are only logged.
      return serviceUnavailable(`${attempt}: the store cannot be used at the moment`, { cause: error })
    case "Closed":
    case "SlowConsumer":
      return serviceUnavailable(`${attempt}: ${error.message}`, { cause: error })
    default:
      return internalError(`${attempt}: ${error.message}`, { cause: error })
  }
}

/** Upstream's --etcd-healthcheck-timeout and --etcd-readycheck-timeout: probes ask for an answer within seconds. */
const checkMs = 2000

/** Checks a store by a request to it. Returns its error, or undefined if it responds in time. */
export async function faultOf(store: Store, clock = systemClock): Promise<string | undefined> {
  const request = store.get(storageKey(storagePrefixOf("", "namespaces"), "", "default"))
  try {
    const isInTime = await endsWithin(clock, checkMs, request)
    return isInTime ? undefined : `the store has not responded within ${checkMs / 1000} s`
  } catch (error) {
    if (error instanceof StorageError) return error.message
    throw error
  }
}
