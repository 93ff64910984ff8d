// Updates of a job's status: what has ended stays ended, and counters fit together. Source:
// k8s.io/kubernetes/pkg/apis/batch/validation ValidateJobStatusUpdate.

import { duplicate, type FieldError, FieldPath, invalidValue, required } from "../../../../apimachinery/field-errors.ts"
import type { Job } from "../../../../apimachinery/object.ts"
import { nonNegative } from "../../validation/values.ts"
import { countIndexes, overlapOf } from "../indexes.ts"

type Status = NonNullable<Job["status"]>

const path = FieldPath.root("status")

export function validateJobStatus(job: Job, current: Job): FieldError[] {
  const status: Status = job.status ?? {}
  const before: Status = current.status ?? {}
  const errors = (["active", "succeeded", "failed", "ready", "terminating"] as const).flatMap((field) =>
    nonNegative(path.child(field), status[field]),
  )
  errors.push(...validateUncounted(status))
  const conditions = path.child("conditions")
  const conflict = (why: string): void => void errors.push(invalidValue(conditions, status.conditions ?? [], why))
  if (has(status, "Complete") && has(status, "Failed")) {
    conflict("cannot set Complete=True and Failed=true conditions")
  }
  if (has(status, "Complete") && has(status, "FailureTarget")) {
    conflict("cannot set Complete=True and FailureTarget=true conditions")
  }
  if (has(status, "SuccessCriteriaMet") && has(status, "Failed")) {
    conflict("cannot set SuccessCriteriaMet=True and Failed=true conditions")
  }
  for (const type of ["Failed", "Complete", "FailureTarget"]) {
    if (has(before, type) && !has(status, type)) conflict(`cannot disable the terminal ${type}=True condition`)
  }
  if (has(before, "SuccessCriteriaMet") && !has(status, "SuccessCriteriaMet")) {
    conflict("cannot disable the SuccessCriteriaMet=True condition")
  }
  if (has(status, "Failed") && !has(before, "Failed") && !has(status, "FailureTarget")) {
    conflict("cannot set Failed=True condition without the FailureTarget=true condition")
  }
  if (has(status, "Complete") && !has(before, "Complete") && !has(status, "SuccessCriteriaMet")) {
    conflict("cannot set Complete=True condition without the SuccessCriteriaMet=true condition")
  }
  return [
    ...errors,
    ...validateTimes(status, before, job),
    ...validateIndexes(status, before, job),
    ...validateCounters(status, before, job),
  ]
}

/** Each pod once, in one of the two. */
function validateUncounted({ uncountedTerminatedPods: uncounted }: Status): FieldError[] {
  const seen = new Set<string>()
  return (["succeeded", "failed"] as const).flatMap((field) =>
    (uncounted?.[field] ?? []).flatMap((uid, index) => {
      const at = path.child("uncountedTerminatedPods", field).index(index)
      if (uid === "") return [invalidValue(at, uid, "must not be empty")]
      if (seen.has(uid)) return [duplicate(at, uid)]
      seen.add(uid)
      return []
    }),
  )
}

/** What has been said before is not looked at again: completions may be fewer by now. */
function validateIndexes(status: Status, before: Status, { spec }: Job): FieldError[] {
  const { completedIndexes: completed = "", failedIndexes: failed } = status
  const { completions, backoffLimitPerIndex } = spec ?? {}
  const [hasCompleted, hasFailed] = [completed !== (before.completedIndexes ?? ""), failed !== before.failedIndexes]
  const errors: FieldError[] = []
  const parse = (field: string, text: string): void => {
    const counted = completions === undefined ? 0 : countIndexes(text, completions)
    if (typeof counted === "number") return
    errors.push(invalidValue(path.child(field), text, `error parsing ${field}: ${counted.fault}`))
  }
  if (hasCompleted) parse("completedIndexes", completed)
  if (hasFailed && failed !== undefined && backoffLimitPerIndex !== undefined) parse("failedIndexes", failed)
  if (hasCompleted && completed !== "" && spec?.completionMode !== "Indexed") {
    const detail = "cannot set non-empty completedIndexes when non-indexed completion mode"
    errors.push(invalidValue(path.child("completedIndexes"), completed, detail))
  }
  if (hasFailed && failed !== undefined && backoffLimitPerIndex === undefined) {
    const detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
    errors.push(invalidValue(path.child("failedIndexes"), failed, detail))
  }
  if ((hasCompleted || hasFailed) && completions !== undefined && failed) {
    const index = overlapOf(completed, failed, completions)
    const detail = `failedIndexes and completedIndexes overlap at index: ${index}`
    if (index !== undefined) errors.push(invalidValue(path.child("failedIndexes"), failed, detail))
  }
  return errors
}

function has(status: Status, type: string): boolean {
  return (status.conditions ?? []).some((condition) => condition.type === type && condition.status === "True")
}

function finished(status: Status): boolean {
  return has(status, "Complete") || has(status, "Failed")
}

function validateTimes(status: Status, before: Status, job: Job): FieldError[] {
  const errors: FieldError[] = []
  const at = path.child("completionTime")
  if (status.completionTime !== undefined && !has(status, "Complete")) {
    errors.push(
      invalidValue(at, status.completionTime, "cannot set completionTime when there is no Complete=True condition"),
    )
  }
  if (status.completionTime === undefined && has(status, "Complete")) {
    errors.push(required(at, "completionTime is required for Complete jobs"))
  }
  if (status.startTime !== undefined && status.completionTime !== undefined) {
    if (Date.parse(status.completionTime) < Date.parse(status.startTime)) {
      errors.push(invalidValue(at, status.completionTime, "must be equal to or after `startTime`"))
    }
  }
  if (before.completionTime !== undefined && status.completionTime !== before.completionTime) {
    if (status.completionTime !== undefined) errors.push(invalidValue(at, status.completionTime, "field is immutable"))
  }
  const skipped = job.spec?.suspend === true && job.spec.completions === 0
  if (finished(status) && status.startTime === undefined && !skipped) {
    errors.push(required(path.child("startTime"), "startTime is required for finished job"))
  }
  return errors
}

function validateCounters(status: Status, before: Status, job: Job): FieldError[] {
  const errors: FieldError[] = []
  const ended = finished(status) && !finished(before)
  const { active = 0, ready, terminating, failed = 0, succeeded = 0, uncountedTerminatedPods } = status
  if (ended && active > 0) {
    errors.push(invalidValue(path.child("active"), active, "active>0 is invalid for finished job"))
  }
  if (ended && (terminating ?? 0) > 0) {
    errors.push(invalidValue(path.child("terminating"), terminating, "terminating>0 is invalid for finished job"))
  }
  const uncounted = (uncountedTerminatedPods?.failed ?? []).length + (uncountedTerminatedPods?.succeeded ?? []).length
  if (ended && uncounted > 0) {
    errors.push(
      invalidValue(path.child("uncountedTerminatedPods"), uncountedTerminatedPods, "must be empty for finished job"),
    )
  }
  if (ready !== undefined && ready > active) {
    errors.push(invalidValue(path.child("ready"), ready, "cannot set more ready pods than active"))
  }
  if (failed < (before.failed ?? 0)) {
    errors.push(invalidValue(path.child("failed"), failed, "cannot decrease the failed counter"))
  }
  const elastic = job.spec?.completionMode === "Indexed" && job.spec.completions === job.spec.parallelism
  if (!elastic && succeeded < (before.succeeded ?? 0)) {
    errors.push(invalidValue(path.child("succeeded"), succeeded, "cannot decrease the succeeded counter"))
  }
  return errors
}
