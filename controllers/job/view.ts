// State of a Job for one reconcile: its pods, counted and grouped. Pure.
// Source: k8s.io/kubernetes/pkg/controller/job/{job_controller,indexed_job_utils}.go.

import type { Job, Pod } from "../../apimachinery/object.ts"
import { isActive } from "../pods/pod-state.ts"
import { finishedAt } from "./backoff.ts"
import { evaluateFailure } from "./failure-policy.ts"
import { indexOf, Indexes } from "./indexes.ts"
import { allIndexFailures, indexFailures } from "./job-pod.ts"
import { hasFailed, isIndexed, isTracked, Tracker, validIndex, type NewlyFinished } from "./tracking.ts"

export interface JobView {
  job: Job
  pods: readonly Pod[]
  active: readonly Pod[]
  tracker: Tracker
  newly: NewlyFinished
  /** Successes and failures, including those that are not in the counts yet. */
  succeeded: number
  failed: number
  succeededIndexes: Indexes
  /** undefined if the Job has no backoffLimitPerIndex. */
  failedIndexes: Indexes | undefined
  /** By index: the failed pod whose count of failures its replacement takes over; it keeps its finalizer until then. */
  delayed: ReadonlyMap<number, Pod>
}

export function viewOf(job: Job, pods: readonly Pod[]): JobView {
  const tracker = new Tracker(job, pods)
  const newly = tracker.newlyFinished()
  const active = pods.filter(isActive)
  const { completions = 0, backoffLimitPerIndex } = job.spec ?? {}
  const indexes = (of: readonly Pod[]): Indexes =>
    Indexes.of(of.map((pod) => validIndex(job, pod)).filter((index) => index !== undefined))
  const hasSucceeded = (pod: Pod): boolean => pod.status?.phase === "Succeeded" && isTracked(pod)
  const succeededIndexes = isIndexed(job)
    ? Indexes.parse(job.status?.completedIndexes, completions).union(indexes(pods.filter(hasSucceeded)))
    : Indexes.of([])
  const limit = isIndexed(job) ? backoffLimitPerIndex : undefined
  const failedIndexes =
    limit === undefined
      ? undefined
      : Indexes.parse(job.status?.failedIndexes, completions).union(
          indexes(pods.filter((pod) => isTracked(pod) && failsIndex(job, pod, limit))),
        )
  const view = { job, pods, active, tracker, newly, succeededIndexes, failedIndexes }
  return {
    ...view,
    succeeded: isIndexed(job) ? succeededIndexes.size : tracker.successes(newly),
    failed: tracker.failures(newly),
    delayed: failedIndexes === undefined ? new Map<number, Pod>() : delayedPods({ ...view, failedIndexes }),
  }
}

/** Whether the pod's failure exceeds the limit of its index. */
function failsIndex(job: Job, pod: Pod, limit: number): boolean {
  if (!hasFailed(job, pod)) return false
  const { action } = evaluateFailure(job, pod)
  return action === "FailIndex" || (action !== "Ignore" && indexFailures(pod) >= limit)
}

function delayedPods(
  view: Pick<JobView, "job" | "active" | "tracker" | "succeededIndexes"> & { failedIndexes: Indexes },
) {
  const { job, active, tracker, succeededIndexes, failedIndexes } = view
  const running = new Set(active.map(indexOf))
  const latest = new Map<number, Pod>()
  for (const pod of tracker.tracked) {
    const index = validIndex(job, pod)
    if (index === undefined || !hasFailed(job, pod)) continue
    if (succeededIndexes.has(index) || failedIndexes.has(index) || running.has(index)) continue
    const other = latest.get(index)
    const isLater =
      other === undefined || (allIndexFailures(other) <= allIndexFailures(pod) && finishedAt(pod) >= finishedAt(other))
    if (isLater) latest.set(index, pod)
  }
  return latest
}
