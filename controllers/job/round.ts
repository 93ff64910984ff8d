// One reconcile of one Job: counts finished pods, decides whether the Job has ended, creates or deletes pods, writes the status.
// Source: k8s.io/kubernetes/pkg/controller/job/job_controller.go (syncJob).

import { timestamp, type Job, type Pod } from "../../apimachinery/object.ts"
import { jobs } from "../../client/resources.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { findCondition } from "../conditions.ts"
import type { Actor } from "../actor.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import type { Expectations } from "../pods/expectations.ts"
import { settleAll } from "../settle-all.ts"
import type { WriteTracker } from "../write-tracker.ts"
import { withFinished, type Failures } from "./backoff.ts"
import { deadlineMs, endingOf, reachedCompletions, withJobCondition, withTarget, type Ending } from "./ending.ts"
import { indexOf } from "./indexes.ts"
import { deletePods, managePods, readyAmong, unchanged, type Change, type PodsOptions } from "./pods.ts"
import { isIndexed, isLeaving, isTracked, removeFinalizer, hasUncounted, settled, type JobStatus } from "./tracking.ts"
import { viewOf, type JobView } from "./view.ts"

/** State of all Jobs, by uid. */
export interface JobMemory {
  expectations: Expectations
  /** Consecutive failures, of each Job that this process has reconciled. */
  backoffs: Map<string, Failures | undefined>
  /** Our own writes that the informers may not have seen yet. */
  statusWrites: WriteTracker
  podWrites: WriteTracker
}

interface RoundOptions extends JobMemory {
  actor: Actor
  job: Job
  pods: readonly Pod[]
  now: number
}

export class Round {
  readonly #options: RoundOptions
  readonly #view: JobView
  readonly #uid: string
  readonly #now: number
  #job: Job

  constructor(options: RoundOptions) {
    this.#options = options
    this.#job = options.job
    this.#view = viewOf(options.job, options.pods)
    this.#uid = options.job.metadata.uid ?? ""
    this.#now = options.now
  }

  async run(): Promise<ReconcileResult> {
    const { expectations, backoffs } = this.#options
    const view = this.#view
    // Read before the pods are counted: a pod that appears during this reconcile belongs to the next one.
    const isSettled = expectations.satisfied(this.#uid)
    const failures = withFinished(this.#knownFailures(), view.newly.succeeded, view.newly.failed)
    const options: PodsOptions = { ...this.#options, view, failures }
    let status = this.#started({ ...this.#job.status })
    let ending = endingOf(view, status.startTime, this.#now)
    let change: Change = unchanged
    if (ending !== undefined) {
      change = await deletePods(options, view.active, false)
      // While pods are unaccounted for or not deleted, the end is not reported, and no pod is released.
      if (change.failure !== undefined || !isSettled) ending = undefined
    } else {
      const isManaged = isSettled && this.#job.metadata.deletionTimestamp === undefined
      if (isManaged) change = await managePods(options)
      if (this.#isComplete(change)) ending = reachedCompletions
      else if (isManaged) status = this.#withSuspension(status)
    }
    const { release, reachedLimit } = view.tracker.count({
      ending: ending?.type,
      isDelayed: (pod) => view.delayed.get(indexOf(pod) ?? -1) === pod,
    })
    status = this.#counted(status, change)
    if (ending !== undefined) status = { ...status, conditions: withTarget(status.conditions, ending, this.#now) }
    await this.#write(status)
    backoffs.set(this.#uid, failures)
    // Only pods that the status records may lose their finalizer.
    const { released, refusal } = await this.#release(release)
    status = settled(status, released)
    const isHeld = reachedLimit || refusal !== undefined || hasUncounted(status)
    if (ending !== undefined && !isHeld && (status.terminating ?? 0) === 0) await this.#finish(status, ending)
    else await this.#write(status)
    const failure = refusal ?? change.failure
    if (failure !== undefined) throw failure
    return ending === undefined ? this.#next(status, change) : undefined
  }

  /** After a restart of the process, the failures are derived from the remaining pods. */
  #knownFailures(): Failures | undefined {
    const { backoffs } = this.#options
    if (backoffs.has(this.#uid)) return backoffs.get(this.#uid)
    const counted = this.#view.pods.filter((pod) => !isTracked(pod))
    const of = (phase: string): Pod[] => counted.filter((pod) => pod.status?.phase === phase)
    return withFinished(undefined, of("Succeeded"), of("Failed"))
  }

  #started(status: JobStatus): JobStatus {
    const isSuspended = this.#job.spec?.suspend === true
    return status.startTime === undefined && !isSuspended ? { ...status, startTime: this.#time() } : status
  }

  #isComplete({ created, deleted }: Change): boolean {
    const { active, succeeded } = this.#view
    const { completions } = this.#job.spec ?? {}
    if (active.length + created - deleted.length > 0) return false
    // Without completions, any success means that the work is done; pods that still run may finish.
    return completions === undefined ? succeeded > 0 : succeeded >= completions
  }

  #counted(status: JobStatus, { created, deleted, asked }: Change): JobStatus {
    const { active: _, succeeded: __, failed: ___, completedIndexes: ____, failedIndexes: _____, ...rest } = status
    const { active, pods, tracker, succeededIndexes, failedIndexes } = this.#view
    const running = active.length + created - deleted.length
    const indexes = String(succeededIndexes)
    return {
      ...rest,
      ...(running === 0 ? {} : { active: running }),
      ...tracker.status(),
      ...(isIndexed(this.#job) && succeededIndexes.size > 0 ? { succeeded: succeededIndexes.size } : {}),
      ...(indexes === "" ? {} : { completedIndexes: indexes }),
      ...(failedIndexes === undefined ? {} : { failedIndexes: String(failedIndexes) }),
      ready: readyAmong(active) - readyAmong(asked),
      terminating: pods.filter(isLeaving).length + deleted.length,
    }
  }

  #withSuspension(status: JobStatus): JobStatus {
    const isSuspended = this.#job.spec?.suspend === true
    const current = findCondition(status.conditions, "Suspended")
    const [value, reason, message] = isSuspended
      ? (["True", "JobSuspended", "Job suspended"] as const)
      : (["False", "JobResumed", "Job resumed"] as const)
    if (current?.status === value || (current === undefined && !isSuspended)) return status
    this.#event("Normal", isSuspended ? "Suspended" : "Resumed", message)
    const conditions = withJobCondition(
      status.conditions,
      { type: "Suspended", status: value, reason, message },
      this.#now,
    )
    const { startTime: _, ...rest } = status
    // The deadline counts from the last resumption.
    return isSuspended ? { ...rest, conditions } : { ...rest, startTime: this.#time(), conditions }
  }

  /** Removes the finalizers. Returns the uids of the pods for which that succeeded, and the first error. */
  async #release(pods: readonly Pod[]): Promise<{ released: Set<string>; refusal?: unknown }> {
    const { actor, podWrites } = this.#options
    const released = new Set<string>()
    using pace = actor.pace(pods.length)
    const refusal = await settleAll(pace, pods, async (pod) => {
      const outcome = await removeFinalizer(actor.client, pod)
      released.add(pod.metadata.uid ?? "")
      if (outcome !== pod) podWrites.changed(this.#uid, outcome)
    })
    return { released, refusal }
  }

  /** Writes the final status after all finalizers are removed and nothing is left to count. */
  async #finish(status: JobStatus, { type, reason, message }: Ending): Promise<void> {
    await this.#write({
      ...status,
      ...(type === "Complete" ? { completionTime: this.#time() } : {}),
      conditions: withJobCondition(status.conditions, { type, status: "True", reason, message }, this.#now),
    })
    if (type === "Failed") return this.#event("Warning", reason, message)
    if ((status.succeeded ?? 0) > (this.#job.spec?.completions ?? Number.POSITIVE_INFINITY)) {
      const text = "Too many succeeded pods running after completion count reached"
      this.#event("Warning", "TooManySucceededPods", text)
    }
    this.#event("Normal", "Completed", "Job completed")
  }

  #next(status: JobStatus, { waitMs }: Change): ReconcileResult {
    const times = [waitMs, deadlineMs(this.#job, status.startTime, this.#now)].filter((ms) => ms !== undefined)
    return times.length === 0 ? undefined : { requeueAfterMs: Math.max(1, Math.min(...times)) }
  }

  async #write(status: JobStatus): Promise<void> {
    // That there are none of these is nothing to write.
    if (equalIgnoringNulls(status, { uncountedTerminatedPods: {}, ...this.#job.status })) return
    const { actor, statusWrites } = this.#options
    this.#job = await actor.client.update<Job>(jobs, { ...this.#job, status }, { subresource: "status" })
    statusWrites.changed(this.#uid, this.#job)
  }

  #time(): string {
    return timestamp(new Date(this.#now))
  }

  #event(type: "Normal" | "Warning", reason: string, message: string): void {
    this.#options.actor.event(this.#job, type, reason, message)
  }
}
