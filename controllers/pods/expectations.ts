// Creations and deletions that a controller has requested and not yet observed. Until the informer shows them, counts of pods are
// wrong and the same pods would be created twice. Source: k8s.io/kubernetes/pkg/controller/controller_utils.go
// (ControllerExpectations).

import type { Pod } from "../../apimachinery/object.ts"
import type { Clock } from "../../client/clock.ts"
import type { TenantInformer } from "../../client/informers/tenant-informer.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { isTerminating } from "./pod-state.ts"

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
  readonly #pods: TenantInformer<Pod>
  readonly #byOwner = new Map<string, Expectation>()

  /** `pods`: what shows the expected creations and deletions. */
  constructor(clock: Clock, pods: TenantInformer<Pod>) {
    this.#clock = clock
    this.#pods = pods
  }

  /**
   * Owners are identified by uid, which is unique across tenants. Of pods that have begun to end since they were chosen, that has been
   * observed already: they are not expected.
   */
  expect(tenant: string, owner: string, creations: number, deletions: readonly Pod[]): void {
    const awaited = deletions.filter((pod) => this.#isAwaited(tenant, pod)).map(({ metadata }) => metadata.uid ?? "")
    this.#byOwner.set(owner, { creations, deletions: new Set(awaited), at: this.#clock.elapsed() })
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
    if (!isFulfilled(found) && this.#clock.elapsed() - found.at < expectationMs) return false
    this.#byOwner.delete(owner)
    return true
  }

  /**
   * The result of the owner's reconcile, which is repeated at the latest when what is expected counts as fulfilled: pods that came and went
   * while the informer's watch was interrupted are never shown.
   */
  bound(owner: string, result: ReconcileResult): ReconcileResult {
    const found = this.#byOwner.get(owner)
    if (found === undefined || isFulfilled(found)) return result
    const leftMs = Math.max(1, found.at + expectationMs - this.#clock.elapsed())
    return { requeueAfterMs: Math.min(leftMs, result?.requeueAfterMs ?? leftMs) }
  }

  forget(owner: string): void {
    this.#byOwner.delete(owner)
  }

  #isAwaited(tenant: string, { metadata: { namespace, name = "", uid } }: Pod): boolean {
    const shown = this.#pods.get(tenant, namespace, name)
    return shown !== undefined && shown.metadata.uid === uid && !isTerminating(shown)
  }
}

const isFulfilled = ({ creations, deletions }: Expectation): boolean => creations <= 0 && deletions.size === 0
