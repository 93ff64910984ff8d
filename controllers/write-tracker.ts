// Tracks writes that an informer has not shown yet. A controller that generates names would create objects twice if it decided with
// a cache from before its own writes.

import type { KubeObject } from "../apimachinery/object.ts"
import type { Clock } from "../client/clock.ts"

/** A write that is not shown after this time was overwritten by another client, or will never be shown. */
export const patienceMs = 5_000
/** Delay of a reconcile whose cache does not show the last writes yet; usually their events arrive earlier. */
export const staleRetryMs = 100

interface Write {
  at: number
  resourceVersion: string
  /** The object existed before the write, so if it is absent it has been deleted since. */
  isChange?: true
}

/** By name. */
type Writes = Map<string, Write>

export class WriteTracker {
  readonly #clock: Clock
  readonly #gaveUp: ((owner: string) => void) | undefined
  readonly #byOwner = new Map<string, Writes>()

  /** `gaveUp` is called when a write counts as seen because it was not shown for too long. It may be shown yet. */
  constructor(clock: Clock, gaveUp?: (owner: string) => void) {
    this.#clock = clock
    this.#gaveUp = gaveUp
  }

  wrote(owner: string, object: KubeObject): void {
    this.#of(owner).set(object.metadata.name ?? "", {
      at: this.#clock.elapsed(),
      resourceVersion: object.metadata.resourceVersion ?? "0",
    })
  }

  changed(owner: string, object: KubeObject): void {
    this.#of(owner).set(object.metadata.name ?? "", {
      at: this.#clock.elapsed(),
      resourceVersion: object.metadata.resourceVersion ?? "0",
      isChange: true,
    })
  }

  forget(owner: string): void {
    this.#byOwner.delete(owner)
  }

  /** Whether the cache shows all writes for this owner. */
  isSeen(owner: string, cached: (name: string) => KubeObject | undefined): boolean {
    const writes = this.#byOwner.get(owner)
    if (writes === undefined) return true
    for (const [name, write] of writes) {
      const isAwaited = !isShown(write, cached(name))
      if (isAwaited && this.#clock.elapsed() - write.at <= patienceMs) continue
      writes.delete(name)
      if (isAwaited) this.#gaveUp?.(owner)
    }
    if (writes.size > 0) return false
    this.#byOwner.delete(owner)
    return true
  }

  #of(owner: string): Writes {
    let writes = this.#byOwner.get(owner)
    if (writes === undefined) this.#byOwner.set(owner, (writes = new Map()))
    return writes
  }
}

function isShown({ resourceVersion, isChange }: Write, object: KubeObject | undefined): boolean {
  if (object === undefined) return isChange === true
  return isAtLeast(object, resourceVersion)
}

/** resourceVersions of a resource are comparable numbers (KEP-5504). */
export function isAtLeast({ metadata }: KubeObject, resourceVersion: string): boolean {
  return BigInt(metadata.resourceVersion ?? "0") >= BigInt(resourceVersion)
}
