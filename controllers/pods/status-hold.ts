// Batches status updates while counts change pod by pod: a status that is still approaching its final values is written after a
// delay; one that has reached them, or is worse than the last one, is written immediately. The skipped counts are ones on which no
// client could have acted.

import type { Clock } from "../../client/clock.ts"
import type { Key } from "../controller.ts"

/** Maximum delay of intermediate counts. */
const holdMs = 250

/** Delayed statuses of one kind. Owners have the keys of the queue, so the caller requeues the key until its status is due. */
export class StatusHold {
  readonly #clock: Clock
  /** Tenant → "namespace/name" → start of the delay. */
  readonly #since = new Map<string, Map<string, number>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Remaining delay of a status that differs from the stored one. 0: write it now; the delay has ended. */
  remainingMs(key: Key): number {
    const now = this.#clock.elapsed()
    let held = this.#since.get(key.tenant)
    if (held === undefined) this.#since.set(key.tenant, (held = new Map()))
    const id = idOf(key)
    const since = held.get(id) ?? now
    held.set(id, since)
    const left = since + holdMs - now
    if (left > 0) return left
    this.release(key)
    return 0
  }

  /** Call when the status has been written, need not be written, or the owner was deleted. */
  release(key: Key): void {
    const held = this.#since.get(key.tenant)
    if (held?.delete(idOf(key)) === true && held.size === 0) this.#since.delete(key.tenant)
  }

  /** Call when the tenant was deleted. */
  forget(tenant: string): void {
    this.#since.delete(tenant)
  }
}

const idOf = ({ namespace, name }: Key): string => `${namespace}/${name}`
