// Limits the reads of one control plane in the super cluster: a single request may concern thousands of namespaces. One that is read again
// and again does not delay the others.

import { FairPlaces } from "../../apimachinery/fair-places.ts"
import type { PodUsage, PodUsageSource } from "../../client/pod-usage.ts"

/** Reads of a control plane at the same time. Beyond: they wait. */
export const concurrentReads = 8

export class LimitedUsage implements PodUsageSource {
  readonly #source: PodUsageSource
  readonly #reads = new FairPlaces<string>({ all: concurrentReads })

  constructor(source: PodUsageSource) {
    this.#source = source
  }

  ofNamespace(namespace: string, signal: AbortSignal): Promise<readonly PodUsage[]> {
    return this.#reads.run(namespace, async () => {
      signal.throwIfAborted()
      return this.#source.ofNamespace(namespace, signal)
    })
  }
}
