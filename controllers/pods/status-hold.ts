// Counts that change pod by pod are told of together: a status that is on its way to where it will stay is written after a
// moment, one that has arrived, or is worse than the last, at once. What is skipped are counts that nobody could have acted on in
// between.

import type { Clock } from "../../client/clock.ts"
import type { Key } from "../context.ts"

/** The longest that counts on their way are held back. */
const holdMs = 250

/** Statuses of one kind. Owners are named as in the queue, so what is held is looked at again when its time has come. */
export class StatusHold {
  readonly #clock: Clock
  /** Tenant → "namespace/name" → since when. */
  readonly #since = new Map<string, Map<string, number>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How long a status that differs from what was written is still held back; 0: write it now, it is not held any more. */
  remainingMs(key: Key): number {
    const now = this.#clock.now()
    let held = this.#since.get(key.tenant)
    if (held === undefined) this.#since.set(key.tenant, (held = new Map()))
    const id = idOf(key)
    const since = held.get(id) ?? now
    held.set(id, since)
    const left = since + holdMs - now
    // A clock that went back must not hold it for longer.
    if (left > 0 && left <= holdMs) return left
    this.release(key)
    return 0
  }

  /** It has been written, there is nothing to write, or the owner is gone. */
  release(key: Key): void {
    const held = this.#since.get(key.tenant)
    if (held?.delete(idOf(key)) === true && held.size === 0) this.#since.delete(key.tenant)
  }

  /** The tenant is gone. */
  forget(tenant: string): void {
    this.#since.delete(tenant)
  }
}

const idOf = ({ namespace, name }: Key): string => `${namespace}/${name}`
