// Interpretation of a pod's status by controllers. Source: k8s.io/kubernetes/pkg/api/v1/pod, pkg/controller/controller_utils.go.

import { isFinished, isReady } from "../../apimachinery/core/pod-phase.ts"
import type { Pod } from "../../apimachinery/object.ts"
import { byName } from "../../apimachinery/repeats.ts"

export { isFinished, isReady }

/** Only the fields used here, so that templates and partial pods are accepted too. */
type PodCondition = NonNullable<NonNullable<Pod["status"]>["conditions"]>[number]

export function podCondition(pod: Pod, type: string): PodCondition | undefined {
  return pod.status?.conditions?.find((condition) => condition.type === type)
}

export function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined
}

/** Whether the pod counts towards the desired replicas. */
export function isActive(pod: Pod): boolean {
  return !isFinished(pod) && !isTerminating(pod)
}

/** Whether the pod has been ready for at least `minReadySeconds`. */
export function isAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  if (!isReady(pod)) return false
  return minReadySeconds === 0 || (availableAt(pod, minReadySeconds) ?? Number.POSITIVE_INFINITY) <= now
}

/**
 * When the first of the ready pods becomes available that was not when they were counted; undefined if none will. That time may have passed
 * since: without another count it would be missed.
 */
export function nextAvailability(pods: readonly Pod[], minReadySeconds: number, countedAt: number): number | undefined {
  // Each is available as soon as it is ready.
  if (minReadySeconds === 0) return undefined
  let next: number | undefined
  for (const pod of pods) {
    const at = isReady(pod) ? availableAt(pod, minReadySeconds) : undefined
    if (at !== undefined && at > countedAt) next = Math.min(next ?? at, at)
  }
  return next
}

/** undefined: never, since nobody knows since when it is ready. */
function availableAt(pod: Pod, minReadySeconds: number): number | undefined {
  // Servers write null for a time that nobody has given.
  const since = podCondition(pod, "Ready")?.lastTransitionTime ?? ""
  return since === "" ? undefined : Date.parse(since) + minReadySeconds * 1000
}

/** Number of restarts of the container with the most restarts. */
export function mostRestarts(pod: Pod): number {
  let most = 0
  for (const status of pod.status?.containerStatuses ?? []) most = Math.max(most, status.restartCount ?? 0)
  return most
}

/** Number of restarts of the sidecar with the most restarts. */
export function mostSidecarRestarts({ spec, status }: Pod): number {
  const containers = byName(spec?.initContainers ?? [])
  let most = 0
  for (const { name, restartCount = 0 } of status?.initContainerStatuses ?? [])
    if (containers.get(name)?.restartPolicy === "Always") most = Math.max(most, restartCount)
  return most
}
