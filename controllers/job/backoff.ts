// The delay before a Job replaces failed pods: 10 s, doubled with each consecutive failure, at most 10 min.
// Source: k8s.io/kubernetes/pkg/controller/job/backoff_utils.go.

import type { ContainerStatus, Pod } from "../../apimachinery/object.ts"

const firstBackoffMs = 10_000
const longestBackoffMs = 600_000

export interface Failures {
  /** Failures since the last success. */
  count: number
  /** When the last pod failed, in ms. */
  latest: number
}

/** Adds the pods that have finished since. */
export function withFinished(
  before: Failures | undefined,
  succeeded: readonly Pod[],
  failed: readonly Pod[],
): Failures | undefined {
  if (succeeded.length === 0 && failed.length === 0) return before
  const success = succeeded.length === 0 ? undefined : latestOf(succeeded)
  const since = success === undefined ? failed : failed.filter((pod) => finishedAt(pod) > success)
  const base = success === undefined ? (before?.count ?? 0) : 0
  return since.length === 0 ? undefined : { count: base + since.length, latest: latestOf(since) }
}

export function remainingBackoffMs(failures: Failures | undefined, now: number): number {
  if (failures === undefined || failures.count === 0) return 0
  const wait = Math.min(firstBackoffMs * 2 ** (failures.count - 1), longestBackoffMs)
  return Math.max(0, failures.latest + wait - now)
}

function latestOf(pods: readonly Pod[]): number {
  return Math.max(...pods.map(finishedAt))
}

/** When the containers terminated; otherwise when the pod became unready, when its deletion was requested, or when it was created. */
export function finishedAt(pod: Pod): number {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, creationTimestamp } = pod.metadata
  const containers = containersEnd(pod)
  if (containers !== undefined) return containers
  const unready = pod.status?.conditions?.find(({ type, status }) => type === "Ready" && status === "False")
  const unreadySince = unready?.lastTransitionTime ?? ""
  if (unreadySince !== "") return Date.parse(unreadySince)
  if (deletionTimestamp !== undefined) return Date.parse(deletionTimestamp) - Number(deletionGracePeriodSeconds) * 1000
  return Date.parse(creationTimestamp ?? "") || 0
}

/** When the last container and the last sidecar ended; of only the sidecars while a container is reported as not ended. */
function containersEnd({ spec, status }: Pod): number | undefined {
  const sidecars = new Set(
    (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always").map(({ name }) => name),
  )
  const sidecarStatuses = (status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name))
  return latestEnd(sidecarStatuses, latestEnd(status?.containerStatuses ?? [], undefined))
}

/** undefined unless all of them have ended; `before` is among the times compared. */
function latestEnd(statuses: readonly ContainerStatus[], before: number | undefined): number | undefined {
  let latest = before
  for (const { state } of statuses) {
    const at = state?.terminated?.finishedAt
    if (at === undefined || at === null) return undefined
    latest = Math.max(latest ?? 0, Date.parse(at))
  }
  return latest
}
