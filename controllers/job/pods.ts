// Creates and deletes a Job's pods. Source: k8s.io/kubernetes/pkg/controller/job/job_controller.go (manageJob).

import type { Pod } from "../../apimachinery/object.ts"
import { isNamespaceTerminating } from "../../client/namespace-terminating.ts"
import type { Actor } from "../actor.ts"
import type { Expectations } from "../pods/expectations.ts"
import { createPod, deletePod } from "../pods/pod-control.ts"
import { isReady } from "../pods/pod-state.ts"
import { slowStart } from "../pods/slow-start.ts"
import { settleAll } from "../settle-all.ts"
import { jobPodsToDelete } from "../replicaset/deletion-order.ts"
import { finishedAt, remainingBackoffMs, type Failures } from "./backoff.ts"
import { indexOf, Indexes } from "./indexes.ts"
import { allIndexFailures, jobPod } from "./job-pod.ts"
import { isIndexed, isLeaving, removeFinalizer, replacesOnlyFailed } from "./tracking.ts"
import type { JobView } from "./view.ts"

/** Limit of pods created or deleted in one reconcile. */
const burst = 500

export interface PodsOptions {
  actor: Actor
  expectations: Expectations
  view: JobView
  failures: Failures | undefined
  now: number
}

/** The changes one reconcile made to the running pods. */
export interface Change {
  created: number
  deleted: readonly Pod[]
  /** Also those whose deletion was refused: as upstream, they do not count as ready any more. */
  asked: readonly Pod[]
  /** The error of the first failed call. */
  failure?: unknown
  /** Pods are missing, but must not be created before this time has passed. */
  waitMs?: number
}

export const unchanged: Change = { created: 0, deleted: [], asked: [] }

export async function managePods(options: PodsOptions): Promise<Change> {
  const { job, active, pods, succeeded } = options.view
  const { parallelism = 1, completions, suspend } = job.spec ?? {}
  if (suspend === true) return deletePods(options, active, true)
  const wanted =
    completions === undefined
      ? // After the first success, no more pods are started.
        succeeded > 0
        ? active.length
        : parallelism
      : Math.max(0, Math.min(completions - succeeded, parallelism))
  const surplus = surplusPods(options.view, Math.max(0, active.length - wanted)).slice(0, burst)
  // Pods are never created and deleted in one reconcile; deletion comes first.
  if (surplus.length > 0) return deletePods(options, surplus, true)
  const leaving = replacesOnlyFailed(job) ? pods.filter(isLeaving).length : 0
  const missing = wanted - leaving - active.length
  return missing > 0 ? createPods(options, Math.min(missing, burst)) : unchanged
}

/** With `uncounted`, the finalizer is removed first: these pods are neither successes nor failures. */
export async function deletePods(options: PodsOptions, victims: readonly Pod[], uncounted: boolean): Promise<Change> {
  if (victims.length === 0) return unchanged
  const { actor, expectations, view } = options
  const { uid = "" } = view.job.metadata
  expectations.expect(actor.tenant, uid, 0, victims)
  const asked: Pod[] = []
  const deleted: Pod[] = []
  using pace = actor.pace(victims.length)
  const failure = await settleAll(pace, victims, async (pod) => {
    let isSeen = false
    try {
      if (uncounted) await removeFinalizer(actor.client, pod)
      asked.push(pod)
      isSeen = await deletePod(actor, view.job, pod)
      deleted.push(pod)
    } finally {
      if (!isSeen) expectations.deletionObserved(uid, pod.metadata.uid ?? "")
    }
  })
  return { created: 0, deleted, asked, ...(failure === undefined ? {} : { failure }) }
}

async function createPods(options: PodsOptions, count: number): Promise<Change> {
  const { actor, expectations, view, failures, now } = options
  const { job, delayed } = view
  const { uid = "" } = job.metadata
  const isLimitedPerIndex = view.failedIndexes !== undefined
  const wait = isLimitedPerIndex ? 0 : remainingBackoffMs(failures, now)
  if (wait > 0) return { ...unchanged, waitMs: wait }
  let indexes = isIndexed(job) ? pendingIndexes(view, count) : undefined
  if (indexes !== undefined && isLimitedPerIndex) {
    const waits = new Map(indexes.map((index) => [index, indexBackoffMs(delayed.get(index), now)]))
    indexes = indexes.filter((index) => waits.get(index) === 0)
    if (indexes.length === 0)
      return waits.size === 0 ? unchanged : { ...unchanged, waitMs: Math.min(...waits.values()) }
  }
  const size = indexes?.length ?? count
  expectations.expect(actor.tenant, uid, size, [])
  let created = 0
  using pace = actor.pace(size)
  const { succeeded, error } = await slowStart(pace, size, async (at) => {
    const index = indexes?.[at]
    const replaced = index === undefined ? undefined : delayed.get(index)
    try {
      await createPod(actor, job, jobPod(job, index, replaced))
      created++
    } catch (failure) {
      if (!isNamespaceTerminating(failure)) throw failure
      expectations.creationObserved(uid)
    }
  })
  for (let missing = size - succeeded; missing > 0; missing--) expectations.creationObserved(uid)
  return { ...unchanged, created, ...(error === undefined ? {} : { failure: error }) }
}

function indexBackoffMs(replaced: Pod | undefined, now: number): number {
  if (replaced === undefined) return 0
  return remainingBackoffMs({ count: allIndexFailures(replaced) + 1, latest: finishedAt(replaced) }, now)
}

function pendingIndexes({ job, pods, active, succeededIndexes, failedIndexes }: JobView, count: number): number[] {
  const present = replacesOnlyFailed(job) ? [...active, ...pods.filter(isLeaving)] : active
  const taken = Indexes.of(present.map(indexOf).filter((index) => index !== undefined))
  const done = failedIndexes === undefined ? succeededIndexes : succeededIndexes.union(failedIndexes)
  return done.union(taken).missing(job.spec?.completions ?? 0, count)
}

/** Pods without a valid index (a second pod of an index, or one beyond the last) are deleted even if there are not too many pods. */
export function surplusPods({ job, active }: JobView, atLeast: number): Pod[] {
  if (!isIndexed(job)) return jobPodsToDelete(active, atLeast)
  const { completions = 0 } = job.spec ?? {}
  const byIndex = Map.groupBy(active, (pod) => {
    const index = indexOf(pod)
    return index === undefined || index >= completions ? undefined : index
  })
  const invalid = byIndex.get(undefined) ?? []
  byIndex.delete(undefined)
  const repeated = [...byIndex.values()].flatMap((same) => jobPodsToDelete(same, same.length - 1))
  const surplus = [...invalid, ...repeated]
  const gone = new Set(surplus)
  const left = active.filter((pod) => !gone.has(pod))
  return [...surplus, ...jobPodsToDelete(left, Math.max(0, atLeast - surplus.length))]
}

export const readyAmong = (pods: readonly Pod[]): number => pods.filter(isReady).length
