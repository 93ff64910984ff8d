// Creations and deletions that a controller has requested and not yet observed. Until the informer shows them, counts of pods are
// wrong and the same pods would be created twice. Source: k8s.io/kubernetes/pkg/controller/controller_utils.go
// (ControllerExpectations).

import type { Clock } from "../../client/clock.ts"

/** After this time an expectation counts as fulfilled, because its event will not come. */
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

  /** Owners are identified by uid, which is unique across tenants. */
  expectCreations(owner: string, count: number): void {
    this.#byOwner.set(owner, { creations: count, deletions: new Set(), at: this.#clock.elapsed() })
  }

  expectDeletions(owner: string, uids: readonly string[]): void {
    this.#byOwner.set(owner, { creations: 0, deletions: new Set(uids), at: this.#clock.elapsed() })
  }

  expect(owner: string, creations: number, deletions: readonly string[]): void {
    this.#byOwner.set(owner, { creations, deletions: new Set(deletions), at: this.#clock.elapsed() })
  }

  /** Also called if an expected creation failed. */
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
    if (!fulfilled && this.#clock.elapsed() - found.at < expectationMs) return false
    this.#byOwner.delete(owner)
    return true
  }

  forget(owner: string): void {
    this.#byOwner.delete(owner)
  }
}
