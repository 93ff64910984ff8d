// One round over one Job: count what has finished, decide whether that is the end, make or delete pods, write the status.

import { timestamp, type Job, type Pod } from "../../apimachinery/object.ts"
import { jobs } from "../../client/resources.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { isNamespaceTerminating } from "../../client/namespace-terminating.ts"
import { findCondition, withCondition } from "../conditions.ts"
import type { Actor, ControllerContext } from "../context.ts"
import { jsonEqual } from "../equality.ts"
import type { Expectations } from "../pods/expectations.ts"
import { createPod, deletePod } from "../pods/pod-control.ts"
import { isActive, isFinished, isReady, isTerminating } from "../pods/pod-state.ts"
import { slowStart } from "../pods/slow-start.ts"
import { podsToDelete } from "../replicaset/deletion-order.ts"
import { indexOf, missingIndexes, parseIndexes } from "./indexes.ts"
import { jobPod } from "./job-pod.ts"
import { hasFailed, isIndexed, removeFinalizer, track, type JobStatus, type Tracked } from "./tracking.ts"

/** Pods made in one round. */
const burst = 500
/** Before a failed pod is replaced: doubles with each failure up to the longest. */
const firstBackoffMs = 10_000
const longestBackoffMs = 600_000

export interface RoundOptions {
  ctx: ControllerContext
  actor: Actor
  expectations: Expectations
  tenant: string
  job: Job
  pods: readonly Pod[]
}

type JobCondition = NonNullable<JobStatus["conditions"]>[number]
type Ending = { type: "Complete" | "Failed"; reason: string; message: string }

export class Round {
  readonly #options: RoundOptions
  readonly #now: number
  readonly #uid: string
  /** Changes as pods are made. */
  #active: Pod[]

  constructor(options: RoundOptions) {
    this.#options = options
    this.#now = options.ctx.clock.now()
    this.#uid = options.job.metadata.uid ?? ""
    this.#active = options.pods.filter(isActive)
  }

  async run(): Promise<ReconcileResult> {
    const { job, pods, expectations } = this.#options
    const tracked = track(job, pods)
    let status: JobStatus = { ...tracked.status }
    const isSuspended = job.spec?.suspend === true
    if (status.startTime === undefined && !isSuspended) status.startTime = timestamp(new Date(this.#now))
    const ending = this.#ending(tracked, status)
    let failure: unknown
    let requeueAfterMs: number | undefined
    if (ending !== undefined) {
      status = { ...status, conditions: this.#withTarget(status, ending) }
      await this.#deletePods(this.#active)
    } else {
      status = this.#withSuspension(status)
      if (expectations.satisfied(this.#uid)) ({ failure, requeueAfterMs } = await this.#adjust(tracked, status))
    }
    status = this.#withCounts(status)
    if (ending !== undefined && this.#isSettled(status)) status = this.#finished(status, ending)
    const isChanged = !jsonEqual(status, job.status)
    if (isChanged) await this.#write(status)
    // Only what the status has on record may lose its finalizer.
    await Promise.all(tracked.release.map((pod) => removeFinalizer(this.#client(), pod)))
    if (failure !== undefined) throw failure
    const deadline = this.#deadlineMs(status)
    const times = [requeueAfterMs, deadline].filter((ms) => ms !== undefined)
    return times.length === 0 || ending !== undefined ? undefined : { requeueAfterMs: Math.max(1, Math.min(...times)) }
  }

  /** Why the Job ends, if it does. What was decided once stays decided. */
  #ending({ succeeded, failed, failJob }: Tracked, status: JobStatus): Ending | undefined {
    const { job } = this.#options
    const target = findCondition(status.conditions, "FailureTarget")
    if (target?.status === "True") return this.#failed(target.reason ?? "", target.message ?? "")
    const met = findCondition(status.conditions, "SuccessCriteriaMet")
    if (met?.status === "True") return { type: "Complete", reason: met.reason ?? "", message: met.message ?? "" }
    if (failJob !== undefined) return this.#failed("PodFailurePolicy", failJob)
    const { backoffLimit = 6, completions, suspend } = job.spec ?? {}
    if (failed > backoffLimit || this.#restartsExceed(backoffLimit)) {
      return this.#failed("BackoffLimitExceeded", "Job has reached the specified backoff limit")
    }
    const deadline = this.#deadlineMs(status)
    if (suspend !== true && deadline !== undefined && deadline <= 0) {
      return this.#failed("DeadlineExceeded", "Job was active longer than specified deadline")
    }
    // Without completions any success says that the work is done; the others may finish theirs.
    const isDone = completions === undefined ? succeeded > 0 && this.#active.length === 0 : succeeded >= completions
    if (!isDone) return undefined
    return { type: "Complete", reason: "CompletionsReached", message: "Reached expected number of succeeded pods" }
  }

  #failed(reason: string, message: string): Ending {
    return { type: "Failed", reason, message }
  }

  /** With restartPolicy OnFailure containers fail in place. */
  #restartsExceed(limit: number): boolean {
    const { job, pods } = this.#options
    if (job.spec?.template.spec?.restartPolicy !== "OnFailure") return false
    let restarts = 0
    for (const { status } of pods) {
      if (status?.phase !== "Running" && status?.phase !== "Pending") continue
      for (const container of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]) {
        restarts += container.restartCount ?? 0
      }
    }
    return limit === 0 ? restarts > 0 : restarts >= limit
  }

  #deadlineMs({ startTime }: JobStatus): number | undefined {
    const seconds = this.#options.job.spec?.activeDeadlineSeconds
    return seconds === undefined || startTime === undefined
      ? undefined
      : Date.parse(startTime) + seconds * 1000 - this.#now
  }

  async #adjust(
    tracked: Tracked,
    status: JobStatus,
  ): Promise<{ failure?: unknown; requeueAfterMs?: number | undefined }> {
    const { job, pods } = this.#options
    if (job.metadata.deletionTimestamp !== undefined) return {}
    if (job.spec?.suspend === true) {
      await this.#deletePods(this.#active)
      return {}
    }
    const { parallelism = 1, completions } = job.spec ?? {}
    const active = this.#active.length
    const wanted =
      completions === undefined
        ? tracked.succeeded > 0
          ? Math.min(active, parallelism)
          : parallelism
        : Math.min(completions - tracked.succeeded, parallelism)
    if (active > wanted) {
      await this.#deletePods(podsToDelete(this.#active, this.#active, active - wanted, this.#now))
      return {}
    }
    // A terminating pod still takes a place when it is to be replaced only after it has failed.
    const leaving = pods.filter((pod) => isTerminating(pod) && !isFinished(pod) && !hasFailed(job, pod)).length
    const missing = Math.min(wanted - active - leaving, burst)
    if (missing <= 0) return {}
    const wait = this.#backoffMs(tracked.failed)
    if (wait > 0) return { requeueAfterMs: wait }
    return { failure: await this.#createPods(missing, status) }
  }

  /** Exponential in the number of failures, from when the last pod failed. */
  #backoffMs(failed: number): number {
    const { job, pods } = this.#options
    const failures = pods.filter((pod) => hasFailed(job, pod))
    const latest = Math.max(0, ...failures.map(finishedAt))
    const succeededSince = pods.some((pod) => pod.status?.phase === "Succeeded" && finishedAt(pod) > latest)
    if (failed === 0 || latest === 0 || succeededSince) return 0
    return latest + Math.min(firstBackoffMs * 2 ** (failed - 1), longestBackoffMs) - this.#now
  }

  async #createPods(count: number, status: JobStatus): Promise<unknown> {
    const { job, actor, tenant, expectations } = this.#options
    const indexes = isIndexed(job) ? this.#missingIndexes(count, status) : undefined
    const size = indexes?.length ?? count
    expectations.expectCreations(this.#uid, size)
    const { succeeded, error } = await slowStart(size, async (at) => {
      try {
        this.#active.push(await createPod(actor, tenant, job, jobPod(job, indexes?.[at])))
      } catch (failure) {
        if (!isNamespaceTerminating(failure)) throw failure
        expectations.creationObserved(this.#uid)
      }
    })
    for (let missing = size - succeeded; missing > 0; missing--) expectations.creationObserved(this.#uid)
    return error
  }

  #missingIndexes(count: number, status: JobStatus): number[] {
    const { job, pods } = this.#options
    const completions = job.spec?.completions ?? 0
    const taken = parseIndexes(status.completedIndexes, completions)
    for (const pod of pods) {
      const index = indexOf(pod)
      if (index !== undefined && !isFinished(pod) && !hasFailed(job, pod)) taken.add(index)
    }
    return missingIndexes(completions, taken, count)
  }

  async #deletePods(victims: readonly Pod[]): Promise<void> {
    const { actor, tenant, job, expectations } = this.#options
    const uids = victims.map((pod) => pod.metadata.uid ?? "")
    if (uids.length === 0) return
    expectations.expectDeletions(this.#uid, uids)
    const results = await Promise.allSettled(
      victims.map(async (pod) => {
        const uid = pod.metadata.uid ?? ""
        const deleted = await deletePod(actor, tenant, job, pod).catch((error: unknown) => {
          expectations.deletionObserved(this.#uid, uid)
          throw error
        })
        if (!deleted) expectations.deletionObserved(this.#uid, uid)
      }),
    )
    const gone = new Set(victims)
    this.#active = this.#active.filter((pod) => !gone.has(pod))
    const failed = results.find((result) => result.status === "rejected")
    if (failed !== undefined) throw failed.reason
  }

  #withCounts(status: JobStatus): JobStatus {
    const { active: _, ready: __, terminating: ___, ...rest } = status
    const active = this.#active.length
    return {
      ...rest,
      ...(active === 0 ? {} : { active }),
      ready: this.#active.filter(isReady).length,
      terminating: this.#terminating(),
    }
  }

  #terminating(): number {
    return this.#options.pods.filter((pod) => isTerminating(pod) && !isFinished(pod)).length
  }

  #withSuspension(status: JobStatus): JobStatus {
    const isSuspended = this.#options.job.spec?.suspend === true
    const current = findCondition(status.conditions, "Suspended")
    if (isSuspended && current?.status !== "True") {
      const { startTime: _, ...rest } = status
      this.#event("Normal", "Suspended", "Job suspended")
      return { ...rest, conditions: this.#with(status, "Suspended", "True", "JobSuspended", "Job suspended") }
    }
    if (isSuspended || current?.status !== "True") return status
    this.#event("Normal", "Resumed", "Job resumed")
    return {
      ...status,
      startTime: timestamp(new Date(this.#now)),
      conditions: this.#with(status, "Suspended", "False", "JobResumed", "Job resumed"),
    }
  }

  #withTarget(status: JobStatus, { type, reason, message }: Ending): JobCondition[] {
    return this.#with(status, type === "Complete" ? "SuccessCriteriaMet" : "FailureTarget", "True", reason, message)
  }

  /** Nothing runs any more and everything is counted. */
  #isSettled(status: JobStatus): boolean {
    const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {}
    const { expectations } = this.#options
    return (
      this.#active.length === 0 &&
      this.#terminating() === 0 &&
      succeeded.length + failed.length === 0 &&
      expectations.satisfied(this.#uid)
    )
  }

  #finished(status: JobStatus, { type, reason, message }: Ending): JobStatus {
    const at = timestamp(new Date(this.#now))
    this.#event(
      type === "Complete" ? "Normal" : "Warning",
      type === "Complete" ? "Completed" : reason,
      type === "Complete" ? "Job completed" : message,
    )
    return {
      ...status,
      ...(type === "Complete" ? { completionTime: at } : {}),
      conditions: this.#with(status, type, "True", reason, message),
    }
  }

  #with(status: JobStatus, type: string, value: string, reason: string, message: string): JobCondition[] {
    const at = timestamp(new Date(this.#now))
    return withCondition(status.conditions, {
      type,
      status: value,
      reason,
      message,
      lastProbeTime: at,
      lastTransitionTime: at,
    })
  }

  async #write(status: JobStatus): Promise<void> {
    await this.#client().update(jobs, { ...this.#options.job, status }, { subresource: "status" })
  }

  #client(): ReturnType<Actor["client"]> {
    return this.#options.actor.client(this.#options.tenant)
  }

  #event(type: "Normal" | "Warning", reason: string, message: string): void {
    this.#options.actor.event(this.#options.tenant, this.#options.job, type, reason, message)
  }
}

function finishedAt(pod: Pod): number {
  let latest = 0
  for (const { state } of pod.status?.containerStatuses ?? []) {
    if (state?.terminated?.finishedAt !== undefined) latest = Math.max(latest, Date.parse(state.terminated.finishedAt))
  }
  if (latest > 0) return latest
  const { deletionTimestamp, creationTimestamp } = pod.metadata
  const transition = pod.status?.conditions?.find(({ type }) => type === "Ready")?.lastTransitionTime
  return Date.parse(deletionTimestamp ?? transition ?? creationTimestamp ?? "") || 0
}
