// Interpretation of a pod's status by controllers. Source: k8s.io/kubernetes/pkg/api/v1/pod, pkg/controller/controller_utils.go.

import { isFinished, isReady } from "../../apimachinery/core/pod-phase.ts"
import type { Pod } from "../../apimachinery/object.ts"

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
  return minReadySeconds === 0 || readyForMs(pod, now) >= minReadySeconds * 1000
}

/** Time until the first ready pod becomes available; undefined if none is waiting. */
export function nextAvailabilityMs(pods: readonly Pod[], minReadySeconds: number, now: number): number | undefined {
  // Each is available as soon as it is ready.
  if (minReadySeconds === 0) return undefined
  let next: number | undefined
  for (const pod of pods) {
    if (!isReady(pod) || isAvailable(pod, minReadySeconds, now)) continue
    const ms = minReadySeconds * 1000 - readyForMs(pod, now)
    next = Math.min(next ?? ms, ms)
  }
  return next
}

function readyForMs(pod: Pod, now: number): number {
  // Servers write null for a time that nobody has given.
  const since = podCondition(pod, "Ready")?.lastTransitionTime ?? ""
  return since === "" ? 0 : now - Date.parse(since)
}

/** Number of restarts of the container with the most restarts. */
export function mostRestarts(pod: Pod): number {
  let most = 0
  for (const status of pod.status?.containerStatuses ?? []) most = Math.max(most, status.restartCount ?? 0)
  return most
}

/** Number of restarts of the sidecar with the most restarts. */
export function mostSidecarRestarts({ spec, status }: Pod): number {
  const isSidecar = (name: string): boolean =>
    (spec?.initContainers ?? []).some((container) => container.name === name && container.restartPolicy === "Always")
  const counts = (status?.initContainerStatuses ?? []).filter(({ name }) => isSidecar(name))
  return Math.max(0, ...counts.map(({ restartCount }) => restartCount ?? 0))
}
