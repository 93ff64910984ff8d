// What a Job says of its pods, alone and in a CronJob's template. Source: k8s.io/kubernetes/pkg/apis/batch/validation.

import type * as models from "@kubernetes/client-node"
import {
  type FieldError,
  type FieldPath,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from "../../../apimachinery/field-errors.ts"
import type { Wire } from "../../../apimachinery/object.ts"
import { defaultPodTemplate } from "../core/pod-spec/defaults.ts"
import { validatePodTemplate } from "../core/pod-spec/validate.ts"
import { nonNegative, optionalOneOf } from "../validation/values.ts"
import { emptyTemplate } from "../workloads/template.ts"

export type JobSpec = Wire<models.V1JobSpec>

const maxIndexedParallelism = 100_000
const maxPolicyRules = 20
const maxExitCodes = 255

/** Of the template's pods only: what a Job itself defaults is in its strategy. */
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
  errors.push(...validateMode(path, spec))
  if (spec.podFailurePolicy !== undefined) errors.push(...validateFailurePolicy(path.child("podFailurePolicy"), spec))
  if (spec.successPolicy !== undefined && spec.completionMode !== "Indexed") {
    errors.push(invalidValue(path.child("successPolicy"), spec.successPolicy, "requires indexed completion mode"))
  }
  const replacement = spec.podFailurePolicy === undefined ? ["Failed", "TerminatingOrFailed"] : ["Failed"]
  errors.push(...optionalOneOf(path.child("podReplacementPolicy"), spec.podReplacementPolicy, replacement))
  const template = spec.template ?? emptyTemplate
  errors.push(...validatePodTemplate(path.child("template"), template))
  return [...errors, ...validateRestartPolicy(path.child("template", "spec", "restartPolicy"), spec)]
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
    if (completions !== undefined && (spec.maxFailedIndexes ?? 0) > completions) {
      errors.push(
        invalidValue(
          path.child("maxFailedIndexes"),
          spec.maxFailedIndexes,
          "must be less than or equal to completions",
        ),
      )
    }
    return errors
  }
  for (const field of ["backoffLimitPerIndex", "maxFailedIndexes"] as const) {
    if (spec[field] !== undefined) {
      errors.push(invalidValue(path.child(field), spec[field], "requires indexed completion mode"))
    }
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

function validateFailurePolicy(path: FieldPath, spec: JobSpec): FieldError[] {
  const rules = spec.podFailurePolicy?.rules ?? []
  const at = path.child("rules")
  const errors = rules.length > maxPolicyRules ? [tooMany(at, rules.length, maxPolicyRules)] : []
  const actions = ["Count", "FailIndex", "FailJob", "Ignore"]
  for (const [index, rule] of rules.entries()) {
    const place = at.index(index)
    if (!rule.action) errors.push(required(place.child("action"), `valid values: [${actions.map(quote).join(" ")}]`))
    else errors.push(...optionalOneOf(place.child("action"), rule.action, actions))
    if (rule.action === "FailIndex" && spec.backoffLimitPerIndex === undefined) {
      errors.push(invalidValue(place.child("action"), rule.action, "requires the backoffLimitPerIndex to be set"))
    }
    const codes = rule.onExitCodes
    if (codes !== undefined) {
      const values = codes.values ?? []
      errors.push(...optionalOneOf(place.child("onExitCodes", "operator"), codes.operator ?? "", ["In", "NotIn"]))
      if (values.length === 0) {
        errors.push(invalidValue(place.child("onExitCodes", "values"), values, "at least one value is required"))
      }
      if (values.length > maxExitCodes) {
        errors.push(tooMany(place.child("onExitCodes", "values"), values.length, maxExitCodes))
      }
      if (codes.operator === "In" && values.includes(0)) {
        const zero = place.child("onExitCodes", "values").index(values.indexOf(0))
        errors.push(invalidValue(zero, 0, "must not be 0 for the In operator"))
      }
    }
    const conditions = (rule.onPodConditions ?? []).length > 0
    if (codes !== undefined && conditions) {
      errors.push(invalidValue(place, rule, "specifying both OnExitCodes and OnPodConditions is not supported"))
    }
    if (codes === undefined && !conditions) {
      errors.push(invalidValue(place, rule, "specifying one of OnExitCodes and OnPodConditions is required"))
    }
  }
  return errors
}

function quote(text: string): string {
  return JSON.stringify(text)
}
