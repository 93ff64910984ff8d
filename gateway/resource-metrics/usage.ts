// Reads and adds up what the pods of a control plane use.

import { serviceUnavailable } from "../../apimachinery/status.ts"
import type { Pod } from "../../apimachinery/object.ts"
import { addQuantities, parseQuantity, printQuantity, type Quantity } from "../../apimachinery/quantity.ts"
import type { ContainerUsage, PodUsage } from "../../client/pod-usage.ts"
import { pods } from "../../client/resources.ts"
import type { RequestContext } from "../request/context.ts"
import { concurrentReads } from "./limited-usage.ts"

export type Usage = Readonly<Record<string, string>>

export interface MeasuredPod {
  pod: Pod
  measured: PodUsage
}

/** `namespace`: "" for all. Ordered by namespace and name. */
export async function measuredPods(
  { controlPlane, signal }: RequestContext,
  namespace: string,
): Promise<MeasuredPod[]> {
  const { client, podUsage } = controlPlane
  if (podUsage === undefined) throw serviceUnavailable("nothing measures what pods use")
  const { items } = await client.list<Pod>(pods, { namespace, signal })
  const namespaces = Map.groupBy(items, ({ metadata }) => metadata.namespace ?? "")
  const found = new Map<string, MeasuredPod[]>()
  const waiting = namespaces.entries()
  const readNext = async (): Promise<void> => {
    for (const [each, all] of waiting) {
      const measured = new Map((await podUsage.ofNamespace(each, signal)).map((usage) => [usage.name, usage]))
      found.set(
        each,
        all.flatMap((pod) => {
          const usage = measured.get(pod.metadata.name ?? "")
          return usage === undefined ? [] : [{ pod, measured: usage }]
        }),
      )
    }
  }
  await Promise.all(Array.from({ length: concurrentReads }, readNext))
  return [...namespaces.keys()].flatMap((each) => found.get(each) ?? [])
}

export function sumOf(containers: readonly ContainerUsage[]): Usage {
  const sums = new Map<string, Quantity>()
  for (const { usage } of containers) {
    for (const [resource, text] of Object.entries(usage)) {
      const sum = sums.get(resource)
      const quantity = parseQuantity(text)
      sums.set(resource, sum === undefined ? quantity : addQuantities(sum, quantity))
    }
  }
  return Object.fromEntries([...sums].map(([resource, sum]) => [resource, printQuantity(sum)]))
}
