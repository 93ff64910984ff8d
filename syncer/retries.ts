// Retries of keys that wait for a server, or for a change of an object: later after each consecutive failure. All other failures are
// retried by the workers (client/workqueue).

import { backoff, type BackoffDelays } from "../client/backoff.ts"
import { RefusedError, isRefusedByTenant, isUnavailable } from "./failures.ts"
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
  /** Of those, keys that the tenant itself has refused last. */
  readonly #refusedByTenant = new Set<string>()

  /** How the last attempt failed. Returns whether the tenant refuses it now, and has not the time before. */
  note(key: SyncKey, error: unknown): boolean {
    const id = identify(key)
    const wasRefused = this.#refusedByTenant.delete(id)
    if (!isRefusedByTenant(error)) return false
    this.#refusedByTenant.add(id)
    return !wasRefused
  }

  after(key: SyncKey, delays: BackoffDelays): { requeueAfterMs: number } {
    const id = identify(key)
    const failures = (this.#failures.get(id) ?? 0) + 1
    this.#failures.set(id, failures)
    return { requeueAfterMs: backoff(failures, delays) }
  }

  end(key: SyncKey): void {
    this.#failures.delete(identify(key))
    this.#refusedByTenant.delete(identify(key))
  }

  /** It would refuse it again, unless something in it has changed, for which it would have woken: it may sleep. */
  isRefusedByTenant(key: SyncKey): boolean {
    return this.#refusedByTenant.has(identify(key))
  }

  forgetTenant(name: string): void {
    for (const ids of [this.#failures, this.#refusedByTenant])
      for (const id of ids.keys()) if (isOfTenant(id, name)) ids.delete(id)
  }
}
