// Backoff for daemon pods that fail immediately (for example, rejected by the kubelet): per node, from one second doubling to 15
// minutes. Source: k8s.io/client-go/util/flowcontrol/backoff.go as pkg/controller/daemon uses it.

import type { Clock } from "../../client/clock.ts"

const firstMs = 1_000
const longestMs = 900_000

interface Entry {
  waitMs: number
  at: number
}

interface FailedPlace {
  /** uid */
  set: string
  /** Of the set, as it has been observed. Failures of former ones do not count. */
  generation: number
  node: string
}

export class FailedBackoff {
  readonly #clock: Clock
  readonly #bySet = new Map<string, { generation: number; byNode: Map<string, Entry> }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Time until the next pod may be deleted; 0: now. */
  remainingMs(place: FailedPlace): number {
    const entry = this.#of(place)?.get(place.node)
    return entry === undefined ? 0 : Math.max(0, entry.at + entry.waitMs - this.#clock.elapsed())
  }

  failed(place: FailedPlace): void {
    const { set, generation, node } = place
    const now = this.#clock.elapsed()
    const byNode = this.#of(place) ?? new Map<string, Entry>()
    const entry = byNode.get(node)
    const isRecent = entry !== undefined && now - entry.at <= 2 * longestMs
    byNode.set(node, { waitMs: isRecent ? Math.min(entry.waitMs * 2, longestMs) : firstMs, at: now })
    this.#bySet.set(set, { generation, byNode })
  }

  forget(set: string): void {
    this.#bySet.delete(set)
  }

  #of({ set, generation }: FailedPlace): Map<string, Entry> | undefined {
    const known = this.#bySet.get(set)
    return known?.generation === generation ? known.byNode : undefined
  }
}
