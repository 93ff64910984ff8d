// What tenants owe everyone else for long work: requests that held the thread without a pause, while all others waited. What takes long
// by nature, such as a definition with thousands of fields, is everybody's due; but a tenant that sends what is dear again and again
// rests between its requests, so that over time they take only a small share of the thread.
//
// A bucket per tenant ("generic cell rate algorithm"): long work fills it, time empties it.

import { defaultLimits, type GatewayLimits } from "../options.ts"
import type { Presence } from "../tenancy/presence.ts"

/** Work that takes less of the thread's processor time at a stretch is free. */
export const longMs = 100

/** The part of all time that pays for long work. */
const share = 0.05

/** The longest rest, so that requests are answered within their time. */
const maxRestMs = 30_000

export type DebtLimits = Pick<GatewayLimits, "maxLongWorkMs">

export class ThreadDebts {
  readonly #limits: DebtLimits
  /** When everything is paid. */
  readonly #paidAt = new WeakMap<Presence, number>()

  constructor(limits: DebtLimits = defaultLimits) {
    this.#limits = limits
  }

  /** Charges work that ends `now`. Returns for how many milliseconds its tenant has to rest. */
  charge(who: Presence, workedMs: number, now: number): number {
    if (workedMs < longMs) return 0
    const restsAfter = now + this.#limits.maxLongWorkMs / share
    const paidAt = Math.min(Math.max(this.#paidAt.get(who) ?? 0, now) + workedMs / share, restsAfter + maxRestMs)
    this.#paidAt.set(who, paidAt)
    return Math.max(0, paidAt - restsAfter)
  }
}
