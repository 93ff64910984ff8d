// Counting each finished pod exactly once, although it may be gone the moment after: pods carry a finalizer until their uid
// is written into status.uncountedTerminatedPods, and leave that list for the counts when the finalizer is off.
// Source: KEP-2307, k8s.io/kubernetes/pkg/controller/job/job_controller.go (trackJobStatusAndRemoveFinalizers).

import type { Job, Pod } from "../../apimachinery/object.ts"
import { hasReason } from "../../apimachinery/status.ts"
import { pods as podResource } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { isTerminating } from "../pods/pod-state.ts"
import { judge } from "./failure-policy.ts"
import { indexOf, parseIndexes, printIndexes } from "./indexes.ts"

export const trackingFinalizer = "batch.kubernetes.io/job-tracking"

/** Uids in one status write; more follow in the next round. */
const uncountedLimit = 500

export type JobStatus = NonNullable<Job["status"]>

export const isTracked = (pod: Pod): boolean => (pod.metadata.finalizers ?? []).includes(trackingFinalizer)

export const isIndexed = (job: Job): boolean => job.spec?.completionMode === "Indexed"

/** A terminating pod counts as failed at once, unless it is to be replaced or judged only when it has failed. */
export function hasFailed(job: Job, pod: Pod): boolean {
  if (pod.status?.phase === "Failed") return true
  const waits = job.spec?.podReplacementPolicy === "Failed" || job.spec?.podFailurePolicy !== undefined
  return isTerminating(pod) && pod.status?.phase !== "Succeeded" && !waits
}

export interface Tracked {
  status: JobStatus
  /** Whose finalizer may go once the status is written. */
  release: Pod[]
  /** Completions and failures, counted or on the way to be. */
  succeeded: number
  failed: number
  /** A pod failed in a way that fails the Job. */
  failJob: string | undefined
}

export function track(job: Job, pods: readonly Pod[]): Tracked {
  const before = job.status ?? {}
  const tracked = new Map(pods.filter(isTracked).map((pod) => [pod.metadata.uid ?? "", pod]))
  const pending = (uids: readonly string[] | undefined): string[] => (uids ?? []).filter((uid) => tracked.has(uid))
  const uncounted = {
    succeeded: pending(before.uncountedTerminatedPods?.succeeded),
    failed: pending(before.uncountedTerminatedPods?.failed),
  }
  const left = (list: "succeeded" | "failed"): number =>
    (before.uncountedTerminatedPods?.[list]?.length ?? 0) - uncounted[list].length
  let failed = (before.failed ?? 0) + left("failed")
  let succeeded = (before.succeeded ?? 0) + left("succeeded")
  const completed = parseIndexes(before.completedIndexes, job.spec?.completions ?? 0)
  const known = new Set([...uncounted.succeeded, ...uncounted.failed])
  const release: Pod[] = []
  let failJob: string | undefined
  for (const [uid, pod] of tracked) {
    const isSuccess = pod.status?.phase === "Succeeded"
    if (!isSuccess && !hasFailed(job, pod)) continue
    release.push(pod)
    if (known.has(uid) || uncounted.succeeded.length + uncounted.failed.length >= uncountedLimit) continue
    if (isSuccess && isIndexed(job)) {
      // Indexes are their own memory: the same one twice is still one.
      const index = indexOf(pod)
      if (index !== undefined && index < (job.spec?.completions ?? 0)) completed.add(index)
    } else if (isSuccess) uncounted.succeeded.push(uid)
    else {
      const judgement = judge(job, pod)
      if (judgement.action === "FailJob") failJob ??= judgement.message
      if (judgement.action !== "Ignore") uncounted.failed.push(uid)
    }
  }
  if (isIndexed(job)) succeeded = completed.size
  const { uncountedTerminatedPods: _, completedIndexes: __, ...rest } = before
  const indexes = printIndexes(completed)
  const status: JobStatus = {
    ...rest,
    ...(succeeded === 0 ? {} : { succeeded }),
    ...(failed === 0 ? {} : { failed }),
    ...(indexes === "" ? {} : { completedIndexes: indexes }),
    uncountedTerminatedPods: {
      ...(uncounted.succeeded.length === 0 ? {} : { succeeded: uncounted.succeeded }),
      ...(uncounted.failed.length === 0 ? {} : { failed: uncounted.failed }),
    },
  }
  succeeded += isIndexed(job) ? 0 : uncounted.succeeded.length
  failed += uncounted.failed.length
  return { status, release, succeeded, failed, failJob }
}

export async function removeFinalizer(client: KubeClient, pod: Pod): Promise<void> {
  if (!isTracked(pod)) return
  const { namespace, name = "", uid, resourceVersion, finalizers = [] } = pod.metadata
  const rest = finalizers.filter((finalizer) => finalizer !== trackingFinalizer)
  const body = { metadata: { uid, resourceVersion, finalizers: rest.length === 0 ? null : rest } }
  try {
    await client.patch(podResource, namespace, name, body, { type: "merge" })
  } catch (error) {
    // Gone, or changed meanwhile: its event brings the Job back.
    if (!hasReason(error, "NotFound", "Conflict", "Invalid")) throw error
  }
}
