// Retries of keys that wait for a server, or for a change of an object: later after each consecutive failure. All other failures are
// retried by the workers (client/workqueue).
//
// What a tenant is at fault for, or super refuses, neither keeps the tenant awake nor wakes it often: it may fail for ever. All that has
// failed is tried again when the tenant wakes for another reason, and when its admission changes.

import { backoff, type BackoffDelays } from "../client/backoff.ts"
import type { LimitedWakings } from "../client/limited-wakings.ts"
import { RefusedError, TenantFailure, isOfTenant, isRefusedByTenant, isUnavailable } from "./failures.ts"
import { identify, isKeyOf, podTokens, superEvents, type SyncKey } from "./keys.ts"
import { syncerLimits } from "./options.ts"

/** Undefined: the failure says nothing about when to try again. */
function delaysOf(error: unknown): BackoffDelays | undefined {
  if (error instanceof RefusedError) return syncerLimits.refusedRetryMs
  return error instanceof TenantFailure || isUnavailable(error) ? syncerLimits.unavailableRetryMs : undefined
}

/**
 * Who has kept a key from being done. "refusedByTenant": it would refuse it again, unless something in it has changed, for which it would
 * have woken. Undefined: neither the tenant nor a decision of super.
 */
type Fault = "refusedByTenant" | "failedInTenant" | "refusedBySuper" | undefined

function faultOf(error: unknown): Fault {
  if (isRefusedByTenant(error)) return "refusedByTenant"
  if (error instanceof TenantFailure) return "failedInTenant"
  return error instanceof RefusedError ? "refusedBySuper" : undefined
}

interface Failed {
  key: SyncKey
  /** Consecutive failures. */
  failures: number
  /** Of the last one. */
  fault: Fault
}

export class Retries {
  readonly #wakings: LimitedWakings
  /** By identity. */
  readonly #failed = new Map<string, Failed>()

  constructor(wakings: LimitedWakings) {
    this.#wakings = wakings
  }

  /**
   * How an attempt failed. Returns when the next one is, and whether the tenant is at fault now and was not the time before. Undefined: the
   * workers retry it.
   */
  failed(key: SyncKey, error: unknown): { again: { requeueAfterMs: number }; isNew: boolean } | undefined {
    const delays = delaysOf(error)
    const failed = this.#of(key)
    const isNew = isOfTenant(error) && !isAtFault(failed.fault)
    failed.fault = faultOf(error)
    return delays === undefined ? undefined : { again: this.after(key, delays), isNew }
  }

  after(key: SyncKey, delays: BackoffDelays): { requeueAfterMs: number } {
    const failed = this.#of(key)
    failed.failures++
    return { requeueAfterMs: backoff(failed.failures, delays) }
  }

  #of(key: SyncKey): Failed {
    const id = identify(key)
    let failed = this.#failed.get(id)
    if (failed === undefined) this.#failed.set(id, (failed = { key, failures: 0, fault: undefined }))
    return failed
  }

  end(key: SyncKey): void {
    this.#failed.delete(identify(key))
  }

  /** Whether its next attempt is no use of the tenant, which may sleep. */
  isAtRest(key: SyncKey): boolean {
    return this.#failed.get(identify(key))?.fault !== undefined
  }

  /** For a key that is at rest and due, whose tenant sleeps. Without a time it is tried again when the tenant wakes. */
  wakeFor(key: SyncKey): { requeueAfterMs: number } | undefined {
    const fault = this.#failed.get(identify(key))?.fault
    // Events are no reason to wake it, and are gone after an hour. Running pods would lose their tokens.
    const isRefused = fault === "refusedByTenant" && key.resource !== podTokens
    if (isRefused || key.resource === superEvents) return undefined
    const requeueAfterMs = this.#wakings.wake(key.tenant)
    return requeueAfterMs > 0 ? { requeueAfterMs } : undefined
  }

  /** What has failed, and for which the tenant or super is at fault. */
  *atRest(tenant: string): Generator<SyncKey> {
    for (const { key, fault } of this.#failed.values()) if (key.tenant === tenant && fault !== undefined) yield key
  }

  forgetTenant(name: string): void {
    this.#wakings.forget(name)
    for (const id of this.#failed.keys()) if (isKeyOf(id, name)) this.#failed.delete(id)
  }
}

const isAtFault = (fault: Fault): boolean => fault === "refusedByTenant" || fault === "failedInTenant"
