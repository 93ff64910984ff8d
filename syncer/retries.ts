// Retries of keys that wait for a server, or for a change of an object: later after each consecutive failure. All other failures are
// retried by the workers (client/workqueue).
//
// What a tenant is at fault for, or super refuses, neither keeps the tenant awake nor wakes it often: it may fail for ever. The same applies to
// what is looked at again and again, as a pod that waits for room. All of it is tried again when the tenant wakes for another reason, and when
// its admission changes. It is kept here, and not with the keys that the queue knows as failed, as the controllers' are: what becomes of it
// depends on who is at fault, and a pod that waits for room has not failed.

import { backoff, type BackoffDelays } from "../client/backoff.ts"
import type { Clock } from "../client/clock.ts"
import type { LimitedWakings } from "../client/limited-wakings.ts"
import type { Outcome } from "./controller.ts"
import { RefusedError, TenantFailure, isOfTenant, isRefusedByTenant, isUnavailable } from "./failures.ts"
import { identify, podTokens, superEvents, type SyncKey } from "./keys.ts"
import { syncerLimits } from "./options.ts"

/** Undefined: the failure says nothing about when to try again. */
function delaysOf(error: unknown): BackoffDelays | undefined {
  if (error instanceof RefusedError) return syncerLimits.refusedRetryMs
  return error instanceof TenantFailure || isUnavailable(error) ? syncerLimits.unavailableRetryMs : undefined
}

/**
 * Who has kept a key from being done. "refusedByTenant": it would refuse it again, unless something in it has changed, for which it would
 * have woken. "recurs": nobody, it is looked at again and again. Undefined: neither the tenant nor a decision of super.
 */
type Fault = "refusedByTenant" | "failedInTenant" | "refusedBySuper" | "recurs" | undefined

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
  /** When it comes too late (ms since the epoch). */
  lateAt?: number | undefined
}

export class Retries {
  readonly #wakings: LimitedWakings
  readonly #clock: Clock
  /** By tenant and identity. */
  readonly #failed = new Map<string, Map<string, Failed>>()

  /** Tenants that have been asked to wake, and have not: how often, and when they are asked again (by the clock's elapsed()). */
  readonly #asked = new Map<string, { times: number; againAt: number }>()

  constructor(wakings: LimitedWakings, clock: Clock) {
    this.#wakings = wakings
    this.#clock = clock
  }

  /**
   * How an attempt failed. Returns when the next one is, and whether the tenant is at fault now and was not the time before. Undefined: the
   * workers retry it.
   */
  failed(key: SyncKey, error: unknown): { again: { requeueAfterMs: number }; isNew: boolean } | undefined {
    const delays = delaysOf(error)
    const failed = this.#of(key)
    const isNew = isTenantsFault(faultOf(error)) && !isTenantsFault(failed.fault) && !isUnreachable(error)
    failed.fault = faultOf(error)
    failed.lateAt = isOfTenant(error) ? error.lateAt : undefined
    return delays === undefined ? undefined : { again: this.after(key, delays), isNew }
  }

  after(key: SyncKey, delays: BackoffDelays): { requeueAfterMs: number } {
    const failed = this.#of(key)
    failed.failures++
    return { requeueAfterMs: backoff(failed.failures, delays) }
  }

  #get(key: SyncKey): Failed | undefined {
    return this.#failed.get(key.tenant)?.get(identify(key))
  }

  #set(key: SyncKey, fault: Fault): Failed {
    const failed: Failed = { key, failures: 0, fault }
    const ofTenant = this.#failed.get(key.tenant) ?? new Map<string, Failed>()
    this.#failed.set(key.tenant, ofTenant.set(identify(key), failed))
    return failed
  }

  #of(key: SyncKey): Failed {
    return this.#get(key) ?? this.#set(key, undefined)
  }

  /** It has been done as far as possible. What is due at a known time, as a token's renewal, is done then, also of a tenant that sleeps. */
  done(key: SyncKey, outcome: Outcome): Outcome {
    if (outcome?.recurs === true) this.#set(key, "recurs")
    else this.end(key)
    return outcome
  }

  end(key: SyncKey): void {
    const ofTenant = this.#failed.get(key.tenant)
    ofTenant?.delete(identify(key))
    if (ofTenant?.size === 0) this.#failed.delete(key.tenant)
  }

  /** Whether its next attempt is no use of the tenant, which may sleep. */
  isAtRest(key: SyncKey): boolean {
    return this.#get(key)?.fault !== undefined
  }

  /** For a key that is at rest and due, whose tenant sleeps. Anyway it is tried again when the tenant wakes. */
  wakeFor(key: SyncKey): { requeueAfterMs: number } | undefined {
    const { fault, lateAt } = this.#get(key) ?? {}
    // An event that has failed is no reason to wake it, and is gone after an hour. Running pods would lose their tokens.
    const isRefused = fault === "refusedByTenant" && key.resource !== podTokens
    if (isRefused || key.resource === superEvents) return undefined
    return { requeueAfterMs: this.#wakings.wake(key.tenant, this.#soonerMs(lateAt)) }
  }

  /** For a key that nobody else would wake its sleeping tenant for. `wake` is called once for all of the tenant's, and again if it does not wake. */
  waitFor({ tenant }: SyncKey, wake: () => void): { requeueAfterMs: number } {
    const now = this.#clock.elapsed()
    let asked = this.#asked.get(tenant)
    if (asked === undefined || asked.againAt <= now) {
      const times = (asked?.times ?? 0) + 1
      asked = { times, againAt: now + backoff(times, syncerLimits.wakingRetryMs) }
      this.#asked.set(tenant, asked)
      wake()
    }
    return { requeueAfterMs: Math.max(1, Math.ceil(asked.againAt - now)) }
  }

  awake(tenant: string): void {
    this.#asked.delete(tenant)
  }

  /** Several attempts before it is too late, the sooner after each other the nearer that is. Afterwards nothing is urgent any more. */
  #soonerMs(lateAt = 0): number | undefined {
    const leftMs = lateAt - this.#clock.now()
    const { share, leastMs } = syncerLimits.wakingBeforeLate
    return leftMs > 0 ? Math.max(leastMs, leftMs * share) : undefined
  }

  /** What is tried again when the tenant wakes. */
  *atRest(tenant: string): Generator<SyncKey> {
    for (const { key, fault } of this.#failed.get(tenant)?.values() ?? []) if (fault !== undefined) yield key
  }

  forgetTenant(name: string): void {
    this.#wakings.forget(name)
    this.#asked.delete(name)
    this.#failed.delete(name)
  }
}

const isTenantsFault = (fault: Fault): boolean => fault === "refusedByTenant" || fault === "failedInTenant"

/** That is reported elsewhere, and once for all keys. */
const isUnreachable = (error: unknown): boolean => error instanceof TenantFailure && error.code === 503
