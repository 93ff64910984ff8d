// CronJobs. Source: k8s.io/kubernetes/pkg/{apis,registry}/batch.

import type * as models from "@kubernetes/client-node"
import {
  type FieldError,
  FieldPath,
  invalidValue,
  notSupported,
  required,
} from "../../../../apimachinery/field-errors.ts"
import type { KubeObject, Wire } from "../../../../apimachinery/object.ts"
import { CronFault, parseCron } from "../../../../apimachinery/cron.ts"
import { TimeZone } from "../../../../apimachinery/time-zone.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { nonNegative, oneOf } from "../../validation/values.ts"
import { convertPodTemplate } from "../../../../apimachinery/core/pod-defaults.ts"
import { dropDisabledOfPod } from "../../core/pod-spec/defaults.ts"
import { defaultJobTemplateSpec, validateJobSpec } from "../job-spec.ts"
import type { JobSpec } from "../types.ts"
import { jobWarnings, podNameWarnings } from "../../workloads/warnings.ts"

type Spec = Wire<models.V1CronJobSpec>
type CronJob = KubeObject & { spec?: Spec; status?: Wire<models.V1CronJobStatus> }

const path = FieldPath.root("spec")
/** Leaves eleven characters for the controller's suffix. */
const maxName = 52

const strategy: Strategy<CronJob> = {
  dropDisabled: ({ spec }) => dropDisabledOfPod(spec?.jobTemplate?.spec?.template?.spec),

  default(cronJob) {
    const spec = specOf(cronJob)
    spec.concurrencyPolicy = spec.concurrencyPolicy || "Allow"
    spec.suspend ??= false
    spec.successfulJobsHistoryLimit ??= 3
    spec.failedJobsHistoryLimit ??= 1
    if (spec.jobTemplate.spec !== undefined) defaultJobTemplateSpec(spec.jobTemplate.spec)
  },

  convert: ({ spec }) => convertPodTemplate(spec?.jobTemplate?.spec?.template),

  prepareForCreate(_ctx, cronJob) {
    cronJob.status = {}
  },

  validate(_ctx, cronJob) {
    const errors = validateSpec(specOf(cronJob), undefined)
    const { name = "" } = cronJob.metadata
    if (Buffer.byteLength(name) > maxName) {
      errors.push(invalidValue(FieldPath.root("metadata", "name"), name, "must be no more than 52 characters"))
    }
    return errors
  },

  validateUpdate(ctx, cronJob, current) {
    return ctx.info.subresource === "status" ? [] : validateSpec(specOf(cronJob), current.spec)
  },

  warnings(_ctx, cronJob, current) {
    const warnings = [
      ...podNameWarnings(cronJob, current),
      ...jobWarnings(path.child("jobTemplate", "spec"), cronJob.spec?.jobTemplate.spec, cronJob, current),
    ]
    if (current !== undefined && cronJob.spec?.schedule.includes("TZ") === true) {
      warnings.push(
        "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details",
      )
    }
    return warnings
  },
}

export const cronJobs: KindExtension = { strategy }

function specOf(cronJob: CronJob): Spec {
  cronJob.spec ??= {} as Spec
  cronJob.spec.jobTemplate ??= {}
  cronJob.spec.jobTemplate.metadata ??= {}
  cronJob.spec.jobTemplate.spec ??= {} as JobSpec
  return cronJob.spec
}

function validateSpec(spec: Spec, current: Spec | undefined): FieldError[] {
  const errors = spec.schedule ? validateSchedule(spec, current) : [required(path.child("schedule"))]
  errors.push(...nonNegative(path.child("startingDeadlineSeconds"), spec.startingDeadlineSeconds))
  if (spec.timeZone !== current?.timeZone) errors.push(...validateTimeZone(spec.timeZone))
  errors.push(...oneOf(path.child("concurrencyPolicy"), spec.concurrencyPolicy, ["Allow", "Forbid", "Replace"]))
  const job = spec.jobTemplate.spec ?? ({} as JobSpec)
  const at = path.child("jobTemplate", "spec")
  errors.push(...validateJobSpec(at, job))
  if (job.selector !== undefined) {
    errors.push(invalidValue(at.child("selector"), job.selector, "`selector` will be auto-generated"))
  }
  if (job.manualSelector === true) errors.push(notSupported(at.child("manualSelector"), true, ["nil", "false"]))
  return [
    ...errors,
    ...nonNegative(path.child("successfulJobsHistoryLimit"), spec.successfulJobsHistoryLimit),
    ...nonNegative(path.child("failedJobsHistoryLimit"), spec.failedJobsHistoryLimit),
  ]
}

function validateSchedule(spec: Spec, current: Spec | undefined): FieldError[] {
  const { schedule, timeZone } = spec
  const at = path.child("schedule")
  const fault = scheduleFault(schedule)
  const errors = fault === undefined ? [] : [invalidValue(at, schedule, fault)]
  if (!schedule.includes("TZ")) return errors
  const tolerated = current?.schedule?.includes("TZ") === true
  if (!tolerated) {
    errors.push(invalidValue(at, schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"))
  } else if (timeZone !== undefined) {
    errors.push(invalidValue(at, schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule"))
  }
  return errors
}

function validateTimeZone(timeZone: string | undefined): FieldError[] {
  const at = path.child("timeZone")
  if (timeZone === undefined) return []
  if (timeZone === "") return [invalidValue(at, timeZone, "timeZone must be nil or non-empty string")]
  const errors: FieldError[] = []
  if (timeZone.toLowerCase() === "local") {
    const why = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
    errors.push(invalidValue(at, timeZone, why))
  }
  // Go knows the zone of its machine by this name, in this case only.
  if (timeZone !== "Local" && TimeZone.named(timeZone) === undefined)
    errors.push(invalidValue(at, timeZone, `unknown time zone ${timeZone}`))
  return errors
}

/** The parser's error, or undefined. */
function scheduleFault(schedule: string): string | undefined {
  try {
    parseCron(schedule)
    return undefined
  } catch (error) {
    if (error instanceof CronFault) return error.message
    throw error
  }
}
