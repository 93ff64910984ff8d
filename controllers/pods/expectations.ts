// What a controller has asked for and not yet seen: until the informer has told of it, counting pods would be wrong and the
// same pods would be made twice. Source: k8s.io/kubernetes/pkg/controller/controller_utils.go (ControllerExpectations).

import type { Clock } from "../../client/clock.ts"

/** After this long an expectation counts as fulfilled: something was never going to be seen. */
const expectationMs = 300_000

interface Expectation {
  creations: number
  /** uids */
  deletions: Set<string>
  at: number
}

export class Expectations {
  readonly #clock: Clock
  readonly #byOwner = new Map<string, Expectation>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Owners are named by uid, which is unique over tenants. */
  expectCreations(owner: string, count: number): void {
    this.#byOwner.set(owner, { creations: count, deletions: new Set(), at: this.#clock.now() })
  }

  expectDeletions(owner: string, uids: readonly string[]): void {
    this.#byOwner.set(owner, { creations: 0, deletions: new Set(uids), at: this.#clock.now() })
  }

  expect(owner: string, creations: number, deletions: readonly string[]): void {
    this.#byOwner.set(owner, { creations, deletions: new Set(deletions), at: this.#clock.now() })
  }

  /** Also for one that was expected but failed. */
  creationObserved(owner: string): void {
    const found = this.#byOwner.get(owner)
    if (found !== undefined && found.creations > 0) found.creations--
  }

  deletionObserved(owner: string, uid: string): void {
    this.#byOwner.get(owner)?.deletions.delete(uid)
  }

  satisfied(owner: string): boolean {
    const found = this.#byOwner.get(owner)
    if (found === undefined) return true
    const fulfilled = found.creations <= 0 && found.deletions.size === 0
    if (!fulfilled && this.#clock.now() - found.at < expectationMs) return false
    this.#byOwner.delete(owner)
    return true
  }

  forget(owner: string): void {
    this.#byOwner.delete(owner)
  }
}
