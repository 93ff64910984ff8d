// Which of a tenant's waiting pods are examined when: for each, the pods on several nodes are listed in super. A few are examined at
// once, the others at regular intervals in the order in which they came.

import type { Clock } from "../client/clock.ts"
import { syncerLimits } from "./options.ts"

const { preemptionPods, preemptionRetryMs } = syncerLimits
const intervalMs = preemptionRetryMs / preemptionPods

export class PreemptionTurns {
  readonly #clock: Clock
  /** By tenant: when all turns given so far are over, if each takes one interval. */
  readonly #end = new Map<string, number>()
  /** By pod: its turn, until it is taken. */
  readonly #turns = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Milliseconds until the pod's turn; 0: it is now, or it has none yet. */
  wait(pod: string): number {
    return Math.max(0, (this.#turns.get(pod) ?? 0) - this.#clock.elapsed())
  }

  /** Takes the pod's turn, or gives it one. Returns milliseconds to wait; 0: it is taken. */
  take(tenant: string, pod: string): number {
    const now = this.#clock.elapsed()
    const due = this.#turns.get(pod) ?? this.#next(tenant, now)
    if (due <= now) this.#turns.delete(pod)
    else this.#turns.set(pod, due)
    return Math.max(0, due - now)
  }

  /** The pod does not wait any more. */
  forgetPod(pod: string): void {
    this.#turns.delete(pod)
  }

  /** `prefix`: of the names of its pods. */
  forgetTenant(tenant: string, prefix: string): void {
    this.#end.delete(tenant)
    for (const pod of this.#turns.keys()) if (pod.startsWith(prefix)) this.#turns.delete(pod)
  }

  #next(tenant: string, now: number): number {
    const end = Math.max(this.#end.get(tenant) ?? now, now) + intervalMs
    this.#end.set(tenant, end)
    return end - preemptionRetryMs
  }
}
