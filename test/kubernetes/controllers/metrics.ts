// What metrics APIs say, played: custom resources of their groups, which answer as a metrics server does.

import { timestamp, type KubeObject, type Pod } from "../../../apimachinery/object.ts"
import { isAlreadyExists } from "../../../apimachinery/status.ts"
import type { KubeClient, Resource } from "../../../client/rest.ts"
import { define } from "./custom-kinds.ts"

const version = "v1beta1"
const podMetrics: Resource = { group: "metrics.k8s.io", version, resource: "pods", namespaced: true }
/** The one that scenarios ask for. */
const queue: Resource = { group: "external.metrics.k8s.io", version, resource: "queue", namespaced: true }
/** Later than pods that became ready just now: what was measured before does not count. */
const aheadMs = 3_600_000

/** Until both are served. */
export async function serveMetrics(client: KubeClient): Promise<void> {
  await define(client, podMetrics, "PodMetrics")
  await define(client, queue, "ExternalMetricValue")
}

/** Of all containers of these pods. */
export async function setUsage(client: KubeClient, pods: readonly Pod[], usage: object): Promise<void> {
  for (const { metadata, spec } of pods) {
    const { name = "", namespace = "", labels = {} } = metadata
    const containers = (spec?.containers ?? []).map((container) => ({ name: container.name, usage }))
    const measured = { timestamp: timestamp(new Date(Date.now() + aheadMs)), window: "30s", containers }
    await write(client, podMetrics, "PodMetrics", { name, namespace, labels }, measured)
  }
}

export async function setQueue(client: KubeClient, namespace: string, value: string): Promise<void> {
  const measured = { metricName: "queue", metricLabels: {}, timestamp: timestamp(), value }
  await write(client, queue, "ExternalMetricValue", { name: "queue", namespace }, measured)
}

async function write(
  client: KubeClient,
  resource: Resource,
  kind: string,
  metadata: KubeObject["metadata"],
  measured: object,
): Promise<void> {
  const { namespace, name = "" } = metadata
  try {
    await client.create(resource, { apiVersion: `${resource.group}/${version}`, kind, metadata, ...measured })
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    await client.patch(resource, namespace, name, measured, { type: "merge" })
  }
}
