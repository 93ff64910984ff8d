// The spec of a Job, also in the template of a CronJob. Source: k8s.io/kubernetes/pkg/apis/batch/validation.

import {
  type FieldError,
  type FieldPath,
  invalidValue,
  notSupported,
  required,
  tooLong,
} from "../../../apimachinery/field-errors.ts"
import { defaultPodTemplate } from "../../../apimachinery/core/pod-defaults.ts"
import { validatePodTemplate } from "../core/pod-spec/validate.ts"
import { domainPrefixedPath, nonNegative, optionalOneOf } from "../validation/values.ts"
import { emptyTemplate } from "../workloads/template.ts"
import { validateFailurePolicy, validateSuccessPolicy } from "./policies.ts"
import type { JobSpec } from "./types.ts"

const maxIndexedParallelism = 100_000
const maxFailedIndexes = 100_000
const longestManagedBy = 63
/** With more completions than this, the other limits apply. */
const manyCompletions = { completions: 100_000, parallelism: 10_000, maxFailedIndexes: 10_000 } as const

/** Only for the pod template: the strategy of Jobs sets their own defaults. */
export function defaultJobTemplateSpec(spec: JobSpec): void {
  spec.template ??= {}
  spec.template.metadata ??= {}
  defaultPodTemplate(spec.template)
  for (const rule of spec.podFailurePolicy?.rules ?? []) {
    for (const pattern of rule.onPodConditions ?? []) pattern.status = pattern.status || "True"
  }
}

export function validateJobSpec(path: FieldPath, spec: JobSpec): FieldError[] {
  const count = (field: keyof JobSpec): FieldError[] =>
    nonNegative(path.child(field), spec[field] as number | undefined)
  const errors = [
    ...count("parallelism"),
    ...count("completions"),
    ...count("activeDeadlineSeconds"),
    ...count("backoffLimit"),
    ...count("ttlSecondsAfterFinished"),
    ...count("backoffLimitPerIndex"),
    ...count("maxFailedIndexes"),
  ]
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    errors.push(required(path.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified"))
  }
  errors.push(...validateManager(path.child("managedBy"), spec.managedBy), ...validateMode(path, spec))
  if (spec.podFailurePolicy !== undefined) errors.push(...validateFailurePolicy(path.child("podFailurePolicy"), spec))
  if (spec.successPolicy !== undefined) {
    const at = path.child("successPolicy")
    if (spec.completionMode === "Indexed") errors.push(...validateSuccessPolicy(at, spec))
    else errors.push(invalidValue(at, spec.successPolicy, "requires indexed completion mode"))
  }
  const replacement = spec.podFailurePolicy === undefined ? ["Failed", "TerminatingOrFailed"] : ["Failed"]
  errors.push(...optionalOneOf(path.child("podReplacementPolicy"), spec.podReplacementPolicy, replacement))
  const template = spec.template ?? emptyTemplate
  errors.push(...validatePodTemplate(path.child("template"), template))
  return [...errors, ...validateRestartPolicy(path.child("template", "spec", "restartPolicy"), spec)]
}

function validateManager(path: FieldPath, name: string | undefined): FieldError[] {
  if (name === undefined) return []
  const errors = domainPrefixedPath(path, name)
  return Buffer.byteLength(name) > longestManagedBy ? [...errors, tooLong(path, "", longestManagedBy)] : errors
}

function validateMode(path: FieldPath, spec: JobSpec): FieldError[] {
  const { completionMode: mode, completions, parallelism } = spec
  const errors = optionalOneOf(path.child("completionMode"), mode, ["NonIndexed", "Indexed"])
  if (mode === "Indexed") {
    if (completions === undefined) {
      errors.push(required(path.child("completions"), "when completion mode is Indexed"))
    }
    if (parallelism !== undefined && parallelism > maxIndexedParallelism) {
      errors.push(
        invalidValue(
          path.child("parallelism"),
          parallelism,
          `must be less than or equal to ${maxIndexedParallelism} when completion mode is Indexed`,
        ),
      )
    }
    if (completions !== undefined && spec.maxFailedIndexes !== undefined && spec.maxFailedIndexes > completions) {
      errors.push(
        invalidValue(
          path.child("maxFailedIndexes"),
          spec.maxFailedIndexes,
          "must be less than or equal to completions",
        ),
      )
    }
    return [...errors, ...validateIndexed(path, spec)]
  }
  if (mode !== undefined && mode !== "NonIndexed") return errors
  for (const field of ["backoffLimitPerIndex", "maxFailedIndexes"] as const) {
    if (spec[field] !== undefined) {
      errors.push(invalidValue(path.child(field), spec[field], "requires indexed completion mode"))
    }
  }
  return errors
}

function validateIndexed(path: FieldPath, spec: JobSpec): FieldError[] {
  const { completions = 0, backoffLimitPerIndex, maxFailedIndexes: mostFailed } = spec
  const errors: FieldError[] = []
  const at = path.child("maxFailedIndexes")
  if ((mostFailed ?? 0) > maxFailedIndexes) {
    errors.push(invalidValue(at, mostFailed, `must be less than or equal to ${maxFailedIndexes}`))
  }
  if (completions <= manyCompletions.completions || backoffLimitPerIndex === undefined) return errors
  const above = `when completions are above ${manyCompletions.completions} and used with backoff limit per index`
  if (mostFailed === undefined) {
    errors.push(required(at, `must be specified when completions is above ${manyCompletions.completions}`))
  }
  for (const field of ["parallelism", "maxFailedIndexes"] as const) {
    const [value = 0, most] = [spec[field], manyCompletions[field]]
    if (value > most)
      errors.push(invalidValue(path.child(field), value, `must be less than or equal to ${most} ${above}`))
  }
  return errors
}

function validateRestartPolicy(at: FieldPath, spec: JobSpec): FieldError[] {
  const policy = spec.template?.spec?.restartPolicy
  if (policy === undefined || policy === "" || policy === "Always") {
    return [required(at, 'valid values: "OnFailure", "Never"')]
  }
  if (policy !== "OnFailure" && policy !== "Never") return [notSupported(at, policy, ["OnFailure", "Never"])]
  return spec.podFailurePolicy !== undefined && policy !== "Never"
    ? [invalidValue(at, policy, 'only "Never" is supported when podFailurePolicy is specified')]
    : []
}
