// Retries of keys that wait for a server, or for a change of an object: later after each consecutive failure. All other failures are
// retried by the workers (client/workqueue).

import { backoff, type BackoffDelays } from "../client/backoff.ts"
import { RefusedError, isUnavailable } from "./failures.ts"
import { identify, isOfTenant, type SyncKey } from "./keys.ts"
import { syncerLimits } from "./options.ts"

/** Undefined: the failure says nothing about when to try again. */
export function retryDelaysOf(error: unknown): BackoffDelays | undefined {
  if (error instanceof RefusedError) return syncerLimits.refusedRetryMs
  return isUnavailable(error) ? syncerLimits.unavailableRetryMs : undefined
}

export class Retries {
  /** Consecutive failures by key. */
  readonly #failures = new Map<string, number>()

  after(key: SyncKey, delays: BackoffDelays): { requeueAfterMs: number } {
    const id = identify(key)
    const failures = (this.#failures.get(id) ?? 0) + 1
    this.#failures.set(id, failures)
    return { requeueAfterMs: backoff(failures, delays) }
  }

  end(key: SyncKey): void {
    this.#failures.delete(identify(key))
  }

  forgetTenant(name: string): void {
    for (const id of this.#failures.keys()) if (isOfTenant(id, name)) this.#failures.delete(id)
  }
}
