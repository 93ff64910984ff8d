// Updates of a job's status: finished jobs stay finished, and counters must be consistent; the errors are in upstream's order.
// Source: k8s.io/kubernetes/pkg/apis/batch/validation ValidateJobStatusUpdate.

import {
  asJson,
  duplicate,
  type FieldError,
  FieldPath,
  invalidValue,
  omitted,
  required,
} from "../../../../apimachinery/field-errors.ts"
import type { Job } from "../../../../apimachinery/object.ts"
import { isGivenFraction } from "../../../../apimachinery/schema/decode/given.ts"
import { semanticEqual } from "../../validation/equality.ts"
import { immutable, nonNegative } from "../../validation/values.ts"
import { countIndexes, overlapOf } from "../indexes.ts"

type Status = NonNullable<Job["status"]>

const path = FieldPath.root("status")

export function validateJobStatus(job: Job, current: Job): FieldError[] {
  const change: Change = { job, status: job.status ?? {}, before: current.status ?? {} }
  const { status } = change
  return [
    ...(["active", "succeeded", "failed", "ready", "terminating"] as const).flatMap((field) =>
      nonNegative(path.child(field), status[field]),
    ),
    ...validateUncounted(status),
    ...validateEnd(change),
    ...validateIndexes(change),
    ...validateRunning(change),
    ...validateSuccess(change),
    ...validateChange(change),
  ]
}

interface Change {
  job: Job
  status: Status
  before: Status
}

const conditions = (why: string): FieldError => invalidValue(path.child("conditions"), omitted, why)

function has(status: Status, type: string, value = "True"): boolean {
  return (status.conditions ?? []).some((condition) => condition.type === type && condition.status === value)
}

function finished(status: Status): boolean {
  return has(status, "Complete") || has(status, "Failed")
}

/** Rules for finished jobs apply only to what the update changes; earlier violations may remain. */
function changes({ status, before }: Change): (what: "finished" | "Complete" | "Failed" | "FailureTarget") => boolean {
  return (what) =>
    what === "finished" ? finished(status) !== finished(before) : has(status, what) !== has(before, what)
}

function differ({ status, before }: Change, field: keyof Status): boolean {
  return !semanticEqual(status[field], before[field]) || isGivenFraction(status, field)
}

function validateEnd(change: Change): FieldError[] {
  const { job, status, before } = change
  const { startTime, completionTime, active = 0, uncountedTerminatedPods: pods } = status
  const changed = changes(change)
  const [complete, failed] = [has(status, "Complete"), has(status, "Failed")]
  const target = has(status, "FailureTarget")
  const errors: FieldError[] = []
  const [completed, hasEnded] = [changed("Complete"), changed("finished")]
  if ((completed || changed("Failed")) && complete && failed) {
    errors.push(conditions("cannot set Complete=True and Failed=true conditions"))
  }
  if ((completed || changed("FailureTarget")) && complete && target) {
    errors.push(conditions("cannot set Complete=True and FailureTarget=true conditions"))
  }
  const at = path.child("completionTime")
  if (completed || differ(change, "completionTime")) {
    const why = "cannot set completionTime when there is no Complete=True condition"
    if (completionTime !== undefined && !complete) errors.push(invalidValue(at, completionTime, why))
    if (completionTime === undefined && complete) {
      errors.push(required(at, "completionTime is required for Complete jobs"))
    }
  }
  const isTimeChanged = differ(change, "startTime") || differ(change, "completionTime")
  if (isTimeChanged && Date.parse(completionTime ?? "") < Date.parse(startTime ?? "")) {
    errors.push(invalidValue(at, completionTime, "must be equal to or after `startTime`"))
  }
  if ((changed("Failed") || differ(change, "failedIndexes")) && failed && !target) {
    errors.push(conditions("cannot set Failed=True condition without the FailureTarget=true condition"))
  }
  const isSuccessChanged = has(status, "SuccessCriteriaMet") !== has(before, "SuccessCriteriaMet")
  if ((completed || isSuccessChanged) && complete && !has(status, "SuccessCriteriaMet")) {
    errors.push(conditions("cannot set Complete=True condition without the SuccessCriteriaMet=true condition"))
  }
  if (!finished(status)) return errors
  if ((hasEnded || differ(change, "active")) && active > 0) {
    errors.push(invalidValue(path.child("active"), active, "active>0 is invalid for finished job"))
  }
  const skipped = job.spec?.suspend === true && job.spec.completions === 0
  if ((hasEnded || differ(change, "startTime")) && startTime === undefined && !skipped) {
    errors.push(required(path.child("startTime"), "startTime is required for finished job"))
  }
  const uncounted = (pods?.failed ?? []).length + (pods?.succeeded ?? []).length
  if ((hasEnded || differ(change, "uncountedTerminatedPods")) && uncounted > 0) {
    errors.push(invalidValue(path.child("uncountedTerminatedPods"), pods, "must be empty for finished job"))
  }
  return errors
}

function validateRunning(change: Change): FieldError[] {
  const { active = 0, ready, terminating } = change.status
  const errors: FieldError[] = []
  const isNew = changes(change)("finished") || differ(change, "terminating")
  if (isNew && finished(change.status) && (terminating ?? 0) > 0) {
    errors.push(invalidValue(path.child("terminating"), terminating, "terminating>0 is invalid for finished job"))
  }
  if ((differ(change, "ready") || differ(change, "active")) && ready !== undefined && ready > active) {
    errors.push(invalidValue(path.child("ready"), ready, "cannot set more ready pods than active"))
  }
  return errors
}

function validateSuccess({ job, status }: Change): FieldError[] {
  const isMet = has(status, "SuccessCriteriaMet")
  const errors: FieldError[] = []
  for (const type of ["Failed", "FailureTarget"] as const) {
    const word = type === "Failed" ? "Failed=true" : "FailureTarget=true"
    if (isMet && has(status, type)) {
      errors.push(conditions(`cannot set SuccessCriteriaMet=True and ${word} conditions`))
    }
  }
  if (job.spec?.successPolicy !== undefined && !isMet && has(status, "Complete")) {
    errors.push(conditions("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"))
  }
  return errors
}

/** Finished jobs stay finished, and counters do not decrease. */
function validateChange(change: Change): FieldError[] {
  const { job, status, before } = change
  const { spec } = job
  const errors: FieldError[] = []
  for (const type of ["Failed", "Complete", "FailureTarget"]) {
    if (has(before, type) && !has(status, type)) {
      errors.push(conditions(`cannot disable the terminal ${type}=True condition`))
    }
  }
  const { failed = 0, succeeded = 0, completionTime, startTime } = status
  if (failed < (before.failed ?? 0)) {
    errors.push(invalidValue(path.child("failed"), failed, "cannot decrease the failed counter"))
  }
  const elastic = spec?.completionMode === "Indexed" && spec.completions === spec.parallelism
  if (!elastic && succeeded < (before.succeeded ?? 0)) {
    errors.push(invalidValue(path.child("succeeded"), succeeded, "cannot decrease the succeeded counter"))
  }
  if (before.completionTime !== undefined && completionTime !== undefined && differ(change, "completionTime")) {
    errors.push(invalidValue(path.child("completionTime"), completionTime, immutable))
  }
  const isResumed = has(before, "Suspended") && has(status, "Suspended", "False")
  if (before.startTime !== undefined && differ(change, "startTime") && !isResumed && spec?.suspend !== true) {
    errors.push(invalidValue(path.child("startTime"), startTime, "field is immutable for unsuspended job once set"))
  }
  const [wasMet, isMet] = [has(before, "SuccessCriteriaMet"), has(status, "SuccessCriteriaMet")]
  if (wasMet && !isMet) errors.push(conditions("cannot disable the SuccessCriteriaMet=True condition"))
  if (has(before, "Complete") && !wasMet && isMet) {
    errors.push(conditions("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"))
  }
  return errors
}

/** Each pod must occur only once in both lists. */
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

/** Unchanged values are not validated again: the number of completions may have decreased. */
function validateIndexes({ status, before, job: { spec } }: Change): FieldError[] {
  const { completedIndexes: completed = "", failedIndexes: failed } = status
  const { completions, backoffLimitPerIndex } = spec ?? {}
  const [hasCompleted, hasFailed] = [completed !== (before.completedIndexes ?? ""), failed !== before.failedIndexes]
  const errors: FieldError[] = []
  const parse = (field: string, text: string, shown: unknown): void => {
    const counted = completions === undefined ? 0 : countIndexes(text, completions)
    if (typeof counted === "number") return
    errors.push(invalidValue(path.child(field), shown, `error parsing ${field}: ${counted.fault}`))
  }
  if (hasCompleted) parse("completedIndexes", completed, completed)
  if (hasFailed && failed !== undefined && backoffLimitPerIndex !== undefined)
    parse("failedIndexes", failed, asJson(failed))
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
