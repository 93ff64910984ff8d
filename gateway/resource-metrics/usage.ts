// Reads and adds up what the pods of a control plane use.

import { serviceUnavailable } from "../../apimachinery/status.ts"
import type { Pod } from "../../apimachinery/object.ts"
import { printQuantity } from "../../apimachinery/quantity.ts"
import { addTo, type Amounts, parseAmounts } from "../../apimachinery/quota/amounts.ts"
import type { ContainerUsage, PodUsage } from "../../client/pod-usage.ts"
import { pods } from "../../client/resources.ts"
import type { RequestContext } from "../request/context.ts"
import { concurrentReads } from "./limited-usage.ts"

export type Usage = Readonly<Record<string, string>>

interface MeasuredPod {
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
  const sum: Amounts = {}
  for (const { usage } of containers) addTo(sum, parseAmounts(usage))
  return Object.fromEntries(Object.entries(sum).map(([resource, amount]) => [resource, printQuantity(amount)]))
}
