// Jobs. Source: k8s.io/kubernetes/pkg/{apis,registry}/batch.

import { type FieldError, FieldPath, invalidValue, required } from "../../../../apimachinery/field-errors.ts"
import { matches, selectorFromLabelSelector } from "../../../../apimachinery/labels.ts"
import { validateDNS1123Label } from "../../../../apimachinery/names.ts"
import type { Job } from "../../../../apimachinery/object.ts"
import { isGivenEmpty } from "../../../../apimachinery/schema/decode/given.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { immutableField, immutableFields, semanticEqual } from "../../validation/equality.ts"
import { validateLabelSelector } from "../../validation/selectors.ts"
import { validateMatches } from "../../workloads/template.ts"
import { convertPodTemplate } from "../../../../apimachinery/core/pod-defaults.ts"
import { dropDisabledOfPod } from "../../core/pod-spec/defaults.ts"
import { defaultJobTemplateSpec, validateJobSpec } from "../job-spec.ts"
import type { JobSpec } from "../types.ts"
import { immutable, maxInt32 } from "../../validation/values.ts"
import { validateJobStatus } from "./status.ts"
import { jobWarnings, podNameWarnings } from "../../workloads/warnings.ts"

const path = FieldPath.root("spec")
/** The old names without a prefix are still used in selectors. */
const nameLabels = ["job-name", "batch.kubernetes.io/job-name"]
const uidLabels = ["controller-uid", "batch.kubernetes.io/controller-uid"]
const uidLabel = "batch.kubernetes.io/controller-uid"

const strategy: Strategy<Job> = {
  defaultPropagation: "Orphan",
  propagationWarning:
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",

  dropDisabled: ({ spec }) => dropDisabledOfPod(spec?.template?.spec),

  default(job) {
    const spec = specOf(job)
    if (spec.completions === undefined && spec.parallelism === undefined) {
      spec.completions = 1
      spec.parallelism = 1
    }
    spec.parallelism ??= 1
    spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : maxInt32
    spec.completionMode ??= "NonIndexed"
    spec.suspend ??= false
    spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? "TerminatingOrFailed" : "Failed"
    spec.manualSelector ??= false
    defaultJobTemplateSpec(spec)
    labelAsTemplate(job)
  },

  convert: ({ spec }) => convertPodTemplate(spec?.template),

  prepareForCreate(_ctx, job) {
    job.status = {}
    if (specOf(job).manualSelector !== true) generateSelector(job)
  },

  defaultOnRead: labelAsTemplate,

  validate: (_ctx, job) => validateJob(job),

  validateUpdate(ctx, job, current) {
    if (ctx.info.subresource === "status") return validateJobStatus(job, current)
    return [...validateJob(job, current), ...validateChange(job, current)]
  },

  warnings: (_ctx, job, current) => [...podNameWarnings(job, current), ...jobWarnings(path, job.spec, job, current)],

  selectableFields: (job) => ({ "status.successful": String(job.status?.succeeded ?? 0) }),
}

export const jobs: KindExtension = { strategy }

function specOf(job: Job): JobSpec {
  job.spec ??= {} as JobSpec
  return job.spec
}

/** A job without labels shares the labels object of its template, so that it also gets the labels generated there. */
function labelAsTemplate({ metadata, spec }: Job): boolean {
  const labels = spec?.template?.metadata?.labels
  if (labels === undefined || Object.keys(metadata.labels ?? {}).length > 0) return false
  metadata.labels = labels
  return true
}

/** The selector uses the job's own uid, so that two jobs never count each other's pods. */
function generateSelector(job: Job): void {
  const spec = specOf(job)
  const { name = "", uid = "" } = job.metadata
  const labels = spec.template.metadata?.labels ?? {}
  const isGiven = isGivenEmpty(spec.template.metadata ?? {}, "labels")
  // By upstream's defaults the job has the same labels if there are any, even if there is nothing in them.
  if (isGiven && Object.keys(job.metadata.labels ?? {}).length === 0) job.metadata.labels = labels
  for (const label of nameLabels) labels[label] ??= name
  for (const label of uidLabels) labels[label] ??= uid
  spec.template.metadata = { ...spec.template.metadata, labels }
  const matchLabels = { ...spec.selector?.matchLabels }
  matchLabels[uidLabel] ??= uid
  spec.selector = { ...spec.selector, matchLabels }
}

function validateJob(job: Job, current?: Job): FieldError[] {
  const spec = specOf(job)
  const errors = [...validateGenerated(job, current), ...validateJobSpec(path, spec)]
  if (spec.selector === undefined) errors.push(required(path.child("selector")))
  else errors.push(...validateLabelSelector(path.child("selector"), spec.selector))
  errors.push(...validateMatches(path.child("template"), spec.selector, spec.template))
  const { name = "" } = job.metadata
  if (spec.completionMode === "Indexed" && (spec.completions ?? 0) > 0) {
    const hostname = `${name}-${(spec.completions ?? 0) - 1}`
    if (validateDNS1123Label(hostname).length > 0) {
      errors.push(
        invalidValue(
          FieldPath.root("metadata", "name"),
          name,
          `will not able to create pod with invalid DNS label: ${hostname}`,
        ),
      )
    }
  }
  return errors
}

/** Jobs that did not have the newer labels do not need them. */
function validateGenerated(job: Job, current: Job | undefined): FieldError[] {
  const spec = specOf(job)
  if (spec.manualSelector === true || spec.selector === undefined) return []
  const { name = "", uid = "" } = job.metadata
  const before = current?.spec?.template?.metadata?.labels ?? {}
  const hasNewer =
    current === undefined || [nameLabels[1], uidLabels[1]].every((label = "") => Object.hasOwn(before, label))
  // The old names of both come first.
  const wanted = Object.fromEntries(
    (hasNewer ? [0, 1] : [0]).flatMap((which) => [
      [uidLabels[which] ?? "", uid],
      [nameLabels[which] ?? "", name],
    ]),
  ) as Record<string, string>
  const labels = spec.template?.metadata?.labels ?? {}
  const at = path.child("template", "metadata", "labels")
  const errors = Object.entries(wanted).flatMap(([label, value]) => {
    if (labels[label] === undefined) return [required(at.key(label), `must be '${value}'`)]
    return labels[label] === value ? [] : [invalidValue(at.key(label), labels, `must be '${value}'`)]
  })
  const understood = validateLabelSelector(path.child("selector"), spec.selector).length === 0
  if (understood && !matches(selectorFromLabelSelector(spec.selector), wanted)) {
    errors.push(invalidValue(path.child("selector"), spec.selector, "`selector` not auto-generated"))
  }
  return errors
}

function validateChange(job: Job, current: Job): FieldError[] {
  const spec = specOf(job)
  const before = (current.spec ?? {}) as JobSpec
  const errors: FieldError[] = []
  const at = path.child("completions")
  if (spec.completionMode !== "Indexed") errors.push(...immutableField(at, spec.completions, before.completions))
  // A missing number has been reported.
  else if (![undefined, before.completions, spec.parallelism].includes(spec.completions)) {
    errors.push(invalidValue(at, spec.completions, "can only be modified in tandem with spec.parallelism"))
  }
  errors.push(...immutableField(path.child("selector"), spec.selector, before.selector))
  errors.push(...validateTemplateChange(job, current))
  return [
    ...errors,
    ...immutableFields(path, spec, before, ["completionMode"]),
    ...immutablePolicy("podFailurePolicy", spec, before),
    ...immutableFields(path, spec, before, ["backoffLimitPerIndex", "managedBy"]),
    ...immutablePolicy("successPolicy", spec, before),
  ]
}

/** An empty policy differs from a missing one. */
function immutablePolicy(field: "podFailurePolicy" | "successPolicy", spec: JobSpec, before: JobSpec): FieldError[] {
  const at = path.child(field)
  return (spec[field] === undefined) === (before[field] === undefined)
    ? immutableField(at, spec[field], before[field])
    : [invalidValue(at, spec[field], immutable)]
}

/** A suspended job without pods may change scheduling constraints and resources of its template. */
function validateTemplateChange(job: Job, current: Job): FieldError[] {
  const at = path.child("template")
  const [template, before] = [specOf(job).template, ((current.spec ?? {}) as JobSpec).template]
  if (semanticEqual(template, before)) return []
  const { startTime, active = 0, conditions = [] } = current.status ?? {}
  const paused = conditions.some(({ type, status }) => type === "Suspended" && status === "True")
  const mutable = current.spec?.suspend === true && (startTime === undefined || paused) && active === 0
  if (!mutable) return immutableField(at, template, before)
  const fixed = (of: typeof template | undefined): unknown => ({
    ...of?.spec,
    affinity: { ...of?.spec?.affinity, nodeAffinity: undefined },
    nodeSelector: undefined,
    tolerations: undefined,
    schedulingGates: undefined,
    containers: (of?.spec?.containers ?? []).map((container) => ({ ...container, resources: undefined })),
    initContainers: (of?.spec?.initContainers ?? []).map((container) => ({ ...container, resources: undefined })),
  })
  return semanticEqual(fixed(template), fixed(before))
    ? []
    : [invalidValue(at.child("spec"), template?.spec, immutable)]
}
