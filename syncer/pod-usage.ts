// Reads what tenants' pods use from the metrics API of the super cluster, as metrics-server provides it, if there is one.

import type { KubeObject } from "../apimachinery/object.ts"
import { isNotFound, serviceUnavailable } from "../apimachinery/status.ts"
import { superNamespace } from "../apimachinery/tenancy.ts"
import { type Clock, pause, systemClock } from "../client/clock.ts"
import type { PodUsage, PodUsageProvider, PodUsageSource } from "../client/pod-usage.ts"
import type { KubeClient, Resource } from "../client/rest.ts"
import type { Tenant } from "../client/tenants.ts"

const podMetrics: Resource = { group: "metrics.k8s.io", version: "v1beta1", resource: "pods", namespaced: true }

const limits = {
  /** The super cluster has this time to answer. */
  answerMs: 10_000,
  /** How often it is asked whether it has the API. */
  lookEveryMs: 10_000,
} as const

type PodMetrics = KubeObject & Partial<Omit<PodUsage, "name">>

export class SuperPodUsage implements PodUsageProvider {
  readonly #superClient: KubeClient
  readonly #followers = new Set<() => void>()
  #isServed = false

  constructor(superClient: KubeClient) {
    this.#superClient = superClient
  }

  get isServed(): boolean {
    return this.#isServed
  }

  onChange(changed: () => void): () => void {
    this.#followers.add(changed)
    return () => void this.#followers.delete(changed)
  }

  /** Looks for the API until the signal is aborted. */
  async follow(signal: AbortSignal, clock: Clock = systemClock): Promise<void> {
    while (!signal.aborted) {
      const isServed = await this.#look()
      if (isServed !== undefined && isServed !== this.#isServed && !signal.aborted) {
        this.#isServed = isServed
        for (const changed of this.#followers) changed()
      }
      await pause(clock, limits.lookEveryMs, signal)
    }
  }

  /** Undefined: it does not answer. An API whose server is unavailable is still there, as in discovery. */
  async #look(): Promise<boolean | undefined> {
    try {
      await this.#superClient.raw(`/apis/${podMetrics.group}/${podMetrics.version}`)
      return true
    } catch (error) {
      return isNotFound(error) ? false : undefined
    }
  }

  of({ clusterKey }: Tenant): PodUsageSource {
    return {
      ofNamespace: async (namespace, signal) => {
        const ended = AbortSignal.any([signal, AbortSignal.timeout(limits.answerMs)])
        const options = { namespace: superNamespace(clusterKey, namespace), signal: ended }
        // The reason is the super cluster's business: it has no metrics API, or it does not answer.
        const { items } = await this.#superClient.list<PodMetrics>(podMetrics, options).catch((cause: unknown) => {
          throw serviceUnavailable("the metrics API of the super cluster is not available", { cause })
        })
        return items.map(({ metadata, timestamp = "", window = "0s", containers = [] }) => ({
          name: metadata.name ?? "",
          timestamp,
          window,
          containers,
        }))
      },
    }
  }
}
