// Resets a pod's DisruptionTarget condition if the disruption did not happen within two minutes.
// Source: k8s.io/kubernetes/pkg/controller/disruption/disruption.go (syncStalePodDisruption).

import { timestamp, type Pod } from "../../apimachinery/object.ts"
import { pods as podResource } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { isFinished, isTerminating, podCondition } from "../pods/pod-state.ts"

const staleMs = 120_000

/** Time until the pod's DisruptionTarget condition is stale; undefined if it has none that can become stale. */
export function staleAfterMs(pod: Pod, now: number): number | undefined {
  const condition = podCondition(pod, "DisruptionTarget")
  // There is no limit on the time between the condition that a kubelet sets and the end of the pod.
  if (condition?.status !== "True" || condition.reason === "TerminationByKubelet") return undefined
  if (isTerminating(pod) || isFinished(pod)) return undefined
  const since = Date.parse(condition.lastTransitionTime ?? "") || 0
  return Math.max(0, since + staleMs - now)
}

export async function resetStaleCondition(
  client: KubeClient,
  pod: Pod | undefined,
  now: number,
): Promise<ReconcileResult> {
  const wait = pod === undefined ? undefined : staleAfterMs(pod, now)
  if (pod === undefined || wait === undefined) return undefined
  if (wait > 0) return { requeueAfterMs: wait }
  const condition = {
    type: "DisruptionTarget",
    status: "False",
    lastTransitionTime: timestamp(new Date(now)),
    observedGeneration: pod.metadata.generation ?? 0,
  }
  const conditions = (pod.status?.conditions ?? []).map((other) => (other.type === condition.type ? condition : other))
  await client.update<Pod>(podResource, { ...pod, status: { ...pod.status, conditions } }, { subresource: "status" })
  return undefined
}
