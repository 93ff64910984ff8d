// Pod statuses as those write them that are no kubelet: one condition changed, or the pod called failed because nobody
// else will. Source: k8s.io/kubernetes/pkg/controller/podgc/gc_controller.go, pkg/controller/tainteviction.

import { timestamp, type Pod } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { pods as podResource } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { isFinished, podCondition } from "./pod-state.ts"

type Conditions = NonNullable<NonNullable<Pod["status"]>["conditions"]>

export interface Disruption {
  reason: string
  message: string
  /** Which pod was looked at; not everybody says so. */
  observedGeneration?: number | undefined
}

/** The pod's conditions with DisruptionTarget as it is now. */
export function withDisruption(pod: Pod, disruption: Disruption, now: number): Conditions {
  const type = "DisruptionTarget"
  const current = podCondition(pod, type)
  const since = current?.status === "True" ? current.lastTransitionTime : undefined
  const lastTransitionTime = since ?? timestamp(new Date(now))
  const condition = { type, status: "True", ...disruption, lastTransitionTime } as Conditions[number]
  const others = (pod.status?.conditions ?? []).filter((other) => other.type !== type)
  return [...others, condition]
}

/** Nobody answers for this pod any more: it is failed, if it has not ended, and goes at once. */
export async function failAndDelete(
  client: KubeClient,
  pod: Pod,
  disruption: Disruption | undefined,
  now: number,
): Promise<void> {
  const { namespace, name = "", uid } = pod.metadata
  try {
    if (!isFinished(pod)) {
      const observedGeneration = pod.metadata.generation
      const conditions =
        disruption === undefined ? {} : { conditions: withDisruption(pod, { ...disruption, observedGeneration }, now) }
      const status = { phase: "Failed", observedGeneration, ...conditions }
      const patch = { metadata: { uid }, status }
      await client.patch(podResource, namespace, name, patch, { type: "merge", subresource: "status" })
    }
    const precondition = uid === undefined ? {} : { uid }
    await client.delete(podResource, namespace, name, { gracePeriodSeconds: 0, ...precondition })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
