// Limits the reads of one control plane in the super cluster: a single request may concern thousands of namespaces.

import type { PodUsage, PodUsageSource } from "../../client/pod-usage.ts"
import { Semaphore } from "../tenancy/semaphore.ts"

/** Reads of a control plane at the same time. Beyond: they wait. */
export const concurrentReads = 8

export class LimitedUsage implements PodUsageSource {
  readonly #source: PodUsageSource
  readonly #reads = new Semaphore(concurrentReads)

  constructor(source: PodUsageSource) {
    this.#source = source
  }

  ofNamespace(namespace: string, signal: AbortSignal): Promise<readonly PodUsage[]> {
    return this.#reads.run(async () => {
      signal.throwIfAborted()
      return this.#source.ofNamespace(namespace, signal)
    })
  }
}
