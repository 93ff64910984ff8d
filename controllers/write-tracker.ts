// Writes an informer has not shown yet. A controller whose objects get generated names would make them twice if it decided
// on a cache from before its own writes.

import type { KubeObject } from "../apimachinery/object.ts"
import type { Clock } from "../client/clock.ts"

/** A write not shown after so long was undone by somebody else, or will never be shown. */
const patienceMs = 5_000

interface Write {
  at: number
  resourceVersion?: string
  /** It was there before, so that it is gone where it is not. */
  isChange?: true
  deletedUid?: string
}

/** By name. */
type Writes = Map<string, Write>

export class WriteTracker {
  readonly #clock: Clock
  readonly #byOwner = new Map<string, Writes>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  wrote(owner: string, object: KubeObject): void {
    this.#of(owner).set(object.metadata.name ?? "", {
      at: this.#clock.now(),
      resourceVersion: object.metadata.resourceVersion ?? "0",
    })
  }

  changed(owner: string, object: KubeObject): void {
    this.#of(owner).set(object.metadata.name ?? "", {
      at: this.#clock.now(),
      resourceVersion: object.metadata.resourceVersion ?? "0",
      isChange: true,
    })
  }

  deleted(owner: string, object: KubeObject): void {
    this.#of(owner).set(object.metadata.name ?? "", {
      at: this.#clock.now(),
      deletedUid: object.metadata.uid ?? "",
    })
  }

  forget(owner: string): void {
    this.#byOwner.delete(owner)
  }

  /** The cache shows all writes made for this owner. */
  isSeen(owner: string, cached: (name: string) => KubeObject | undefined): boolean {
    const writes = this.#byOwner.get(owner)
    if (writes === undefined) return true
    for (const [name, write] of writes) {
      if (isShown(write, cached(name)) || this.#clock.now() - write.at > patienceMs) writes.delete(name)
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

/** resourceVersions of one resource are comparable numbers (KEP-5504). */
function isShown({ resourceVersion, isChange, deletedUid }: Write, object: KubeObject | undefined): boolean {
  if (resourceVersion === undefined) return object?.metadata.uid !== deletedUid
  if (object === undefined) return isChange === true
  return BigInt(object.metadata.resourceVersion ?? "0") >= BigInt(resourceVersion)
}
