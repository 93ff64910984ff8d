// Reads what a tenant's pods use from the metrics API of the super cluster, as metrics-server provides it.

import type { KubeObject } from "../apimachinery/object.ts"
import { serviceUnavailable } from "../apimachinery/status.ts"
import { superNamespace } from "../apimachinery/tenancy.ts"
import type { PodUsage, PodUsageSource } from "../client/pod-usage.ts"
import type { KubeClient, Resource } from "../client/rest.ts"
import type { Tenant } from "../client/tenants.ts"

const podMetrics: Resource = { group: "metrics.k8s.io", version: "v1beta1", resource: "pods", namespaced: true }

/** The super cluster has this time to answer. */
const answerMs = 10_000

type PodMetrics = KubeObject & Partial<Omit<PodUsage, "name">>

export function createPodUsage(superClient: KubeClient, { clusterKey }: Tenant): PodUsageSource {
  return {
    async ofNamespace(namespace, signal) {
      const ended = AbortSignal.any([signal, AbortSignal.timeout(answerMs)])
      const options = { namespace: superNamespace(clusterKey, namespace), signal: ended }
      // The reason is the super cluster's business: it has no metrics API, or it does not answer.
      const { items } = await superClient.list<PodMetrics>(podMetrics, options).catch((cause: unknown) => {
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
