// Counting each finished pod exactly once, although it may be gone the moment after: pods carry a finalizer until their uid
// is written into status.uncountedTerminatedPods, and leave that list for the counts when the finalizer is off.
// Source: KEP-2307, k8s.io/kubernetes/pkg/controller/job/job_controller.go (trackJobStatusAndRemoveFinalizers).

import type { Job, Pod } from "../../apimachinery/object.ts"
import { hasReason } from "../../apimachinery/status.ts"
import { pods as podResource } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { isFinished, isTerminating } from "../pods/pod-state.ts"
import { judge } from "./failure-policy.ts"
import { indexOf } from "./indexes.ts"

export const trackingFinalizer = "batch.kubernetes.io/job-tracking"

/** Uids in one status write; more follow in the next round. */
const uncountedLimit = 500

export type JobStatus = NonNullable<Job["status"]>

export const isTracked = (pod: Pod): boolean => (pod.metadata.finalizers ?? []).includes(trackingFinalizer)

export const isIndexed = (job: Job): boolean => job.spec?.completionMode === "Indexed"

/** Terminating pods are replaced only when they have ended. */
export const replacesOnlyFailed = (job: Job): boolean =>
  job.spec?.podReplacementPolicy === "Failed" || job.spec?.podFailurePolicy !== undefined

/** A terminating pod counts as failed at once, unless it is to be replaced or judged only when it has failed. */
export function hasFailed(job: Job, pod: Pod): boolean {
  if (pod.status?.phase === "Failed") return true
  return isTerminating(pod) && pod.status?.phase !== "Succeeded" && !replacesOnlyFailed(job)
}

/** On its way out and not over yet. */
export const isLeaving = (pod: Pod): boolean => isTerminating(pod) && !isFinished(pod)

/** The pod's index when the Job has such an index now. */
export function validIndex(job: Job, pod: Pod): number | undefined {
  const index = indexOf(pod)
  return index !== undefined && index < (job.spec?.completions ?? 0) ? index : undefined
}

/** Pods that have finished and that the status knows nothing of yet. */
export interface NewlyFinished {
  succeeded: Pod[]
  failed: Pod[]
}

export class Tracker {
  readonly #job: Job
  readonly #tracked: readonly Pod[]
  /** Uids that are written down and still have their finalizer. */
  readonly #uncounted: { succeeded: string[]; failed: string[] }
  /** Counted for good. */
  readonly counts: { succeeded: number; failed: number }

  constructor(job: Job, pods: readonly Pod[]) {
    this.#job = job
    this.#tracked = pods.filter(isTracked)
    const { succeeded = 0, failed = 0, uncountedTerminatedPods: before } = job.status ?? {}
    const held = new Set(this.#tracked.map(({ metadata }) => metadata.uid))
    const still = (uids: readonly string[] = []): string[] => uids.filter((uid) => held.has(uid))
    this.#uncounted = { succeeded: still(before?.succeeded), failed: still(before?.failed) }
    const left = (list: "succeeded" | "failed"): number => (before?.[list]?.length ?? 0) - this.#uncounted[list].length
    this.counts = { succeeded: succeeded + left("succeeded"), failed: failed + left("failed") }
  }

  get uncounted(): number {
    return this.#uncounted.succeeded.length + this.#uncounted.failed.length
  }

  get tracked(): readonly Pod[] {
    return this.#tracked
  }

  newlyFinished(): NewlyFinished {
    const job = this.#job
    const isNew = (pod: Pod, list: "succeeded" | "failed"): boolean =>
      !this.#uncounted[list].includes(pod.metadata.uid ?? "") && (!isIndexed(job) || validIndex(job, pod) !== undefined)
    return {
      succeeded: this.#tracked.filter((pod) => pod.status?.phase === "Succeeded" && isNew(pod, "succeeded")),
      failed: this.#tracked.filter((pod) => hasFailed(job, pod) && isNew(pod, "failed")),
    }
  }

  /** Failures that count, those on the way to be counted included. */
  failures({ failed }: NewlyFinished): number {
    const counting = failed.filter((pod) => judge(this.#job, pod).action !== "Ignore").length
    return this.counts.failed + this.#uncounted.failed.length + counting
  }

  successes({ succeeded }: NewlyFinished): number {
    return this.counts.succeeded + this.#uncounted.succeeded.length + succeeded.length
  }

  /** Writes down what may be let go; with `ending` the Job is over and all pods go. Returns those to be released. */
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
      if (isSuccess && !failures.includes(uid)) {
        // Indexes are their own memory: the same one twice is still one.
        if (isIndexed(job)) indexes++
        else if (!successes.includes(uid)) successes.push(uid)
      } else if (failed || options.ending === "Failed") {
        // When the Job has failed, what still runs has failed with it.
        const isValid = !isIndexed(job) || validIndex(job, pod) !== undefined
        if (!failures.includes(uid) && isValid && judge(job, pod).action !== "Ignore") failures.push(uid)
      }
      if (indexes + this.uncounted >= uncountedLimit) return { release, reachedLimit: true }
    }
    return { release, reachedLimit: false }
  }

  status(): Pick<JobStatus, "succeeded" | "failed" | "uncountedTerminatedPods"> {
    const { succeeded, failed } = this.#uncounted
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

/** Those that were written down and have lost their finalizer are counted for good. */
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

/** The pod without it; undefined: it may still be there. */
export async function removeFinalizer(client: KubeClient, pod: Pod): Promise<Pod | undefined> {
  if (!isTracked(pod)) return pod
  const { namespace, name = "", uid } = pod.metadata
  // A strategic patch of just this one needs no lock: the pod's status may change meanwhile.
  const body = { metadata: { uid, "$deleteFromPrimitiveList/finalizers": [trackingFinalizer] } }
  try {
    return await client.patch<Pod>(podResource, namespace, name, body, { type: "strategic" })
  } catch (error) {
    if (hasReason(error, "NotFound")) return pod
    // Another pod of this name: its event brings the Job back.
    if (hasReason(error, "Conflict", "Invalid")) return undefined
    throw error
  }
}
