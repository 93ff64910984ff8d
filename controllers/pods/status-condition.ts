// Status updates of pods by components other than the kubelet: sets a condition, or fails a pod that no kubelet will. Source:
// k8s.io/kubernetes/pkg/controller/podgc/gc_controller.go, pkg/controller/tainteviction.

import { timestamp, type Pod } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { pods as podResource } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { isFinished, podCondition } from "./pod-state.ts"

type Conditions = NonNullable<NonNullable<Pod["status"]>["conditions"]>

interface Disruption {
  reason: string
  message: string
  /** The observed generation of the pod; not all callers set it. */
  observedGeneration?: number | undefined
}

/** The pod's conditions with DisruptionTarget set. */
export function withDisruption(pod: Pod, disruption: Disruption, now: number): Conditions {
  const type = "DisruptionTarget"
  const current = podCondition(pod, type)
  const lastTransitionTime = current?.status === "True" ? current.lastTransitionTime : timestamp(new Date(now))
  const condition = { type, status: "True", ...disruption, lastTransitionTime } as Conditions[number]
  const others = (pod.status?.conditions ?? []).filter((other) => other.type !== type)
  return [...others, condition]
}

/** It has the condition that withDisruption() sets for this reason. */
export function isDisrupted(pod: Pod, reason: string): boolean {
  const condition = podCondition(pod, "DisruptionTarget")
  return condition?.status === "True" && condition.reason === reason
}

/** Fails a pod without a responsible kubelet, if it is not finished, and deletes it immediately. */
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
