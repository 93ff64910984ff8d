// Counts each finished pod exactly once, although it may be deleted at any time: pods carry a finalizer until their uid is in
// status.uncountedTerminatedPods, and move from that list to the counts when the finalizer has been removed.
// Source: KEP-2307, k8s.io/kubernetes/pkg/controller/job/job_controller.go (trackJobStatusAndRemoveFinalizers).

import type { Job, Pod } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { pods as podResource } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { isFinished, isTerminating } from "../pods/pod-state.ts"
import { evaluateFailure } from "./failure-policy.ts"
import { indexOf } from "./indexes.ts"

export const trackingFinalizer = "batch.kubernetes.io/job-tracking"

/** Limit of uids in one status write; the rest follows in the next reconcile. */
const uncountedLimit = 500

export type JobStatus = NonNullable<Job["status"]>

export const isTracked = (pod: Pod): boolean => (pod.metadata.finalizers ?? []).includes(trackingFinalizer)

export const isIndexed = (job: Job): boolean => job.spec?.completionMode === "Indexed"

/** Whether terminating pods are replaced only after they have ended. */
export const replacesOnlyFailed = (job: Job): boolean =>
  job.spec?.podReplacementPolicy === "Failed" || job.spec?.podFailurePolicy !== undefined

/** A terminating pod counts as failed at once, unless it is replaced or evaluated only after it has failed. */
export function hasFailed(job: Job, pod: Pod): boolean {
  if (pod.status?.phase === "Failed") return true
  return isTerminating(pod) && pod.status?.phase !== "Succeeded" && !replacesOnlyFailed(job)
}

/** Being deleted and not finished yet. */
export const isLeaving = (pod: Pod): boolean => isTerminating(pod) && !isFinished(pod)

/** The pod's index, if it is below the Job's present completions. */
export function validIndex(job: Job, pod: Pod): number | undefined {
  const index = indexOf(pod)
  return index !== undefined && index < (job.spec?.completions ?? 0) ? index : undefined
}

/** Finished pods that the status does not contain yet. */
export interface NewlyFinished {
  succeeded: Pod[]
  failed: Pod[]
}

export class Tracker {
  readonly #job: Job
  readonly #tracked: readonly Pod[]
  /** Uids that are recorded in the status and whose pods may still have the finalizer. */
  readonly #uncounted: { succeeded: Set<string>; failed: Set<string> }
  /** Pods counted in the status. */
  readonly counts: { succeeded: number; failed: number }

  constructor(job: Job, pods: readonly Pod[]) {
    this.#job = job
    this.#tracked = pods.filter(isTracked)
    const { succeeded = 0, failed = 0, uncountedTerminatedPods: before } = job.status ?? {}
    const held = new Set(this.#tracked.map(({ metadata }) => metadata.uid))
    const still = (uids: readonly string[] = []): Set<string> => new Set(uids.filter((uid) => held.has(uid)))
    this.#uncounted = { succeeded: still(before?.succeeded), failed: still(before?.failed) }
    const left = (list: "succeeded" | "failed"): number => (before?.[list]?.length ?? 0) - this.#uncounted[list].size
    this.counts = { succeeded: succeeded + left("succeeded"), failed: failed + left("failed") }
  }

  get uncounted(): number {
    return this.#uncounted.succeeded.size + this.#uncounted.failed.size
  }

  get tracked(): readonly Pod[] {
    return this.#tracked
  }

  newlyFinished(): NewlyFinished {
    const job = this.#job
    const isNew = (pod: Pod, list: "succeeded" | "failed"): boolean =>
      !this.#uncounted[list].has(pod.metadata.uid ?? "") && (!isIndexed(job) || validIndex(job, pod) !== undefined)
    return {
      succeeded: this.#tracked.filter((pod) => pod.status?.phase === "Succeeded" && isNew(pod, "succeeded")),
      failed: this.#tracked.filter((pod) => hasFailed(job, pod) && isNew(pod, "failed")),
    }
  }

  /** Number of failures that count, including those that are not in the counts yet. */
  failures({ failed }: NewlyFinished): number {
    const counting = failed.filter((pod) => evaluateFailure(this.#job, pod).action !== "Ignore").length
    return this.counts.failed + this.#uncounted.failed.size + counting
  }

  successes({ succeeded }: NewlyFinished): number {
    return this.counts.succeeded + this.#uncounted.succeeded.size + succeeded.length
  }

  /** Records the finished pods; with `ending` the Job has ended and all pods are recorded. Returns the pods to release. */
  count(options: { ending: "Failed" | "Complete" | undefined; isDelayed(pod: Pod): boolean }): {
    release: Pod[]
    reachedLimit: boolean
  } {
    const job = this.#job
    const release: Pod[] = []
    let indexes = 0
    for (const pod of this.#tracked) {
      const failed = hasFailed(job, pod)
      const isSuccess = pod.status?.phase === "Succeeded"
      const isOver = job.metadata.deletionTimestamp !== undefined || options.ending !== undefined || isSuccess
      if (!isOver && (!failed || options.isDelayed(pod))) continue
      release.push(pod)
      const { uid = "" } = pod.metadata
      const { succeeded: successes, failed: failures } = this.#uncounted
      if (isSuccess && !failures.has(uid)) {
        // A set of indexes can hold each index only once.
        if (isIndexed(job)) indexes++
        else successes.add(uid)
      } else if (failed || options.ending === "Failed") {
        // When a Job has failed, the pods that still run have failed as well.
        const isValid = !isIndexed(job) || validIndex(job, pod) !== undefined
        if (isValid && evaluateFailure(job, pod).action !== "Ignore") failures.add(uid)
      }
      if (indexes + this.uncounted >= uncountedLimit) return { release, reachedLimit: true }
    }
    return { release, reachedLimit: false }
  }

  status(): Pick<JobStatus, "succeeded" | "failed" | "uncountedTerminatedPods"> {
    const [succeeded, failed] = [[...this.#uncounted.succeeded], [...this.#uncounted.failed]]
    return {
      ...(this.counts.succeeded === 0 || isIndexed(this.#job) ? {} : { succeeded: this.counts.succeeded }),
      ...(this.counts.failed === 0 ? {} : { failed: this.counts.failed }),
      uncountedTerminatedPods: {
        ...(succeeded.length === 0 ? {} : { succeeded }),
        ...(failed.length === 0 ? {} : { failed }),
      },
    }
  }
}

export const hasUncounted = ({ uncountedTerminatedPods: of }: JobStatus): boolean =>
  [of?.succeeded, of?.failed].some((uids) => (uids ?? []).length > 0)

/** Moves the recorded pods whose finalizer was removed to the counts. */
export function settled(status: JobStatus, released: ReadonlySet<string>): JobStatus {
  const { succeeded, failed, uncountedTerminatedPods: before, ...rest } = status
  const left = (uids: readonly string[] = []): string[] => uids.filter((uid) => !released.has(uid))
  const held = { succeeded: left(before?.succeeded), failed: left(before?.failed) }
  const counts = {
    succeeded: (succeeded ?? 0) + (before?.succeeded?.length ?? 0) - held.succeeded.length,
    failed: (failed ?? 0) + (before?.failed?.length ?? 0) - held.failed.length,
  }
  return {
    ...rest,
    ...(counts.succeeded === 0 ? {} : { succeeded: counts.succeeded }),
    ...(counts.failed === 0 ? {} : { failed: counts.failed }),
    uncountedTerminatedPods: {
      ...(held.succeeded.length === 0 ? {} : { succeeded: held.succeeded }),
      ...(held.failed.length === 0 ? {} : { failed: held.failed }),
    },
  }
}

/** Returns the pod without the finalizer. */
export async function removeFinalizer(client: KubeClient, pod: Pod): Promise<Pod> {
  if (!isTracked(pod)) return pod
  const { namespace, name = "", uid } = pod.metadata
  // A strategic merge patch of the finalizer alone needs no optimistic lock: the pod's status may change meanwhile.
  const body = { metadata: { uid, "$deleteFromPrimitiveList/finalizers": [trackingFinalizer] } }
  try {
    return await client.patch<Pod>(podResource, namespace, name, body, { type: "strategic" })
  } catch (error) {
    if (isNotFound(error)) return pod
    throw error
  }
}
