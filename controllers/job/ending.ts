// Whether and why a Job has ended. Pure. A decision is final: it is recorded in the condition FailureTarget or SuccessCriteriaMet
// before Failed or Complete follows. Source: k8s.io/kubernetes/pkg/controller/job/job_controller.go (syncJob).

import { goSeconds } from "../../apimachinery/go/duration.ts"
import { timestamp, type Job } from "../../apimachinery/object.ts"
import { findCondition } from "../conditions.ts"
import { evaluateFailure } from "./failure-policy.ts"
import { metSuccessPolicy } from "./success-policy.ts"
import { hasFailed, isIndexed, type JobStatus } from "./tracking.ts"
import type { JobView } from "./view.ts"

type JobCondition = NonNullable<JobStatus["conditions"]>[number]

export interface Ending {
  type: "Complete" | "Failed"
  reason: string
  message: string
}

export const reachedCompletions: Ending = {
  type: "Complete",
  reason: "CompletionsReached",
  message: "Reached expected number of succeeded pods",
}

/** All reasons except {@link reachedCompletions}, which also depends on the pods that still run. */
export function endingOf(view: JobView, startTime: string | undefined, now: number): Ending | undefined {
  const { job, pods } = view
  const decided = decidedEnding(job)
  if (decided !== undefined) return decided
  for (const pod of pods) {
    if (job.spec?.podFailurePolicy === undefined || !hasFailed(job, pod)) continue
    const evaluated = evaluateFailure(job, pod)
    if (evaluated.action === "FailJob") return failed("PodFailurePolicy", evaluated.message)
  }
  const { backoffLimit = 6 } = job.spec ?? {}
  if (view.failed > backoffLimit || restartsExceed(view, backoffLimit)) {
    return failed("BackoffLimitExceeded", "Job has reached the specified backoff limit")
  }
  const deadline = deadlineMs(job, startTime, now)
  if (deadline !== undefined && deadline <= 0) {
    return failed("DeadlineExceeded", "Job was active longer than specified deadline")
  }
  if (!isIndexed(job)) return undefined
  const byIndex = failedByIndexes(view)
  if (byIndex !== undefined) return byIndex
  const message = metSuccessPolicy(job, view.succeededIndexes)
  return message === undefined ? undefined : { type: "Complete", reason: "SuccessPolicy", message }
}

/** Time until the deadline; undefined if there is none or the Job is suspended. */
export function deadlineMs(job: Job, startTime: string | undefined, now: number): number | undefined {
  const { activeDeadlineSeconds, suspend } = job.spec ?? {}
  if (activeDeadlineSeconds === undefined || startTime === undefined || suspend === true) return undefined
  return Date.parse(startTime) + goSeconds(activeDeadlineSeconds) - now
}

function decidedEnding(job: Job): Ending | undefined {
  for (const [type, ending] of [
    ["SuccessCriteriaMet", "Complete"],
    ["FailureTarget", "Failed"],
  ] as const) {
    const condition = findCondition(job.status?.conditions, type)
    if (condition?.status !== "True") continue
    return { type: ending, reason: condition.reason ?? "", message: condition.message ?? "" }
  }
  return undefined
}

function failedByIndexes({ job, failedIndexes, succeededIndexes }: JobView): Ending | undefined {
  const { maxFailedIndexes, completions = 0 } = job.spec ?? {}
  if (failedIndexes === undefined) return undefined
  if (maxFailedIndexes !== undefined && failedIndexes.size > maxFailedIndexes) {
    return failed("MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes")
  }
  const isOver = failedIndexes.size > 0 && failedIndexes.size + succeededIndexes.size >= completions
  return isOver ? failed("FailedIndexes", "Job has failed indexes") : undefined
}

/** With restartPolicy OnFailure, containers are restarted in the same pod. */
function restartsExceed({ job, pods }: JobView, limit: number): boolean {
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

function failed(reason: string, message: string): Ending {
  return { type: "Failed", reason, message }
}

/** Adds the condition that precedes Failed or Complete. */
export function withTarget(conditions: JobCondition[] | undefined, ending: Ending, now: number): JobCondition[] {
  const type = ending.type === "Complete" ? "SuccessCriteriaMet" : "FailureTarget"
  return withJobCondition(conditions, { ...ending, type, status: "True" }, now)
}

/** Replaces the condition at its position or appends it. A condition that is absent is not added as False. */
export function withJobCondition(
  conditions: JobCondition[] | undefined,
  wanted: { type: string; status: string; reason: string; message: string },
  now: number,
): JobCondition[] {
  const all = conditions ?? []
  const { type, status, reason, message } = wanted
  const current = findCondition(all, type)
  if (current === undefined && status === "False") return all
  if (current?.status === status && current.reason === reason && current.message === message) return all
  const at = timestamp(new Date(now))
  const condition = { type, status, lastProbeTime: at, lastTransitionTime: at, reason, message }
  return current === undefined ? [...all, condition] : all.map((other) => (other === current ? condition : other))
}
