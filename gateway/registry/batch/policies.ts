// The policies for when a Job has failed or succeeded before all its pods have. Source: k8s.io/kubernetes/pkg/apis/batch/validation
// (validatePodFailurePolicy, validateSuccessPolicy).

import { repeats } from "../../../apimachinery/repeats.ts"
import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalidValue,
  omitted,
  required,
  tooLong,
  tooMany,
} from "../../../apimachinery/field-errors.ts"
import { validateQualifiedName } from "../../../apimachinery/names.ts"
import { messages, nonNegative, optionalOneOf } from "../validation/values.ts"
import { countIndexes } from "./indexes.ts"
import type { JobSpec } from "./types.ts"

type FailureRule = NonNullable<JobSpec["podFailurePolicy"]>["rules"][number]
type ExitCodes = NonNullable<FailureRule["onExitCodes"]>
type SuccessRule = NonNullable<JobSpec["successPolicy"]>["rules"][number]

const mostRules = 20
const mostExitCodes = 255
const mostConditions = 20
const longestIndexes = 64 * 1024

export function validateFailurePolicy(path: FieldPath, spec: JobSpec): FieldError[] {
  const rules = spec.podFailurePolicy?.rules ?? []
  const at = path.child("rules")
  const { containers = [], initContainers = [] } = spec.template?.spec ?? {}
  const names = [...(containers ?? []), ...(initContainers ?? [])].map(({ name }) => name)
  return [
    ...(rules.length > mostRules ? [tooMany(at, rules.length, mostRules)] : []),
    ...rules.flatMap((rule, index) => validateFailureRule(at.index(index), rule, spec, names)),
  ]
}

function validateFailureRule(
  path: FieldPath,
  { action, onExitCodes: codes, onPodConditions }: FailureRule,
  spec: JobSpec,
  names: readonly string[],
): FieldError[] {
  const conditions = onPodConditions ?? []
  const errors = word(path.child("action"), action, ["Count", "FailIndex", "FailJob", "Ignore"])
  if (action === "FailIndex" && spec.backoffLimitPerIndex === undefined) {
    errors.push(invalidValue(path.child("action"), action, "requires the backoffLimitPerIndex to be set"))
  }
  if (codes !== undefined) errors.push(...validateExitCodes(path.child("onExitCodes"), codes, names))
  errors.push(...validateConditions(path.child("onPodConditions"), conditions))
  if (codes !== undefined && conditions.length > 0) {
    errors.push(invalidValue(path, omitted, "specifying both OnExitCodes and OnPodConditions is not supported"))
  }
  if (codes === undefined && conditions.length === 0) {
    errors.push(invalidValue(path, omitted, "specifying one of OnExitCodes and OnPodConditions is required"))
  }
  return errors
}

/** One of the supported values, which are also listed if the value is missing. */
function word(path: FieldPath, value: string | undefined, words: readonly string[]): FieldError[] {
  if (value) return optionalOneOf(path, value, words)
  return [required(path, `valid values: [${words.map((one) => JSON.stringify(one)).join(" ")}]`)]
}

function validateExitCodes(path: FieldPath, codes: ExitCodes, names: readonly string[]): FieldError[] {
  const { operator, containerName } = codes
  const at = path.child("values")
  const values = codes.values ?? []
  const repeated = repeats(values)
  const errors = word(path.child("operator"), operator, ["In", "NotIn"])
  if (containerName !== undefined && !names.includes(containerName)) {
    const detail = "must be one of the container or initContainer names in the pod template"
    errors.push(invalidValue(path.child("containerName"), containerName, detail))
  }
  if (values.length === 0) errors.push(invalidValue(at, codes.values, "at least one value is required"))
  if (values.length > mostExitCodes) errors.push(tooMany(at, values.length, mostExitCodes))
  for (const [index, value] of values.entries()) {
    if (operator === "In" && value === 0) {
      errors.push(invalidValue(at.index(index), value, "must not be 0 for the In operator"))
    }
    if (repeated.has(index)) errors.push(duplicate(at.index(index), value))
  }
  const isOrdered = values.every((value, index) => index === 0 || (values[index - 1] ?? 0) <= value)
  return isOrdered ? errors : [...errors, invalidValue(at, values, "must be ordered")]
}

function validateConditions(path: FieldPath, conditions: NonNullable<FailureRule["onPodConditions"]>): FieldError[] {
  const errors = conditions.length > mostConditions ? [tooMany(path, conditions.length, mostConditions)] : []
  for (const [index, { type = "", status }] of conditions.entries()) {
    const at = path.index(index)
    errors.push(...messages(at.child("type"), type, validateQualifiedName(type)))
    errors.push(...word(at.child("status"), status, ["False", "True", "Unknown"]))
  }
  return errors
}

export function validateSuccessPolicy(path: FieldPath, { successPolicy, completions = 0 }: JobSpec): FieldError[] {
  const rules = successPolicy?.rules ?? []
  const at = path.child("rules")
  const errors =
    rules.length === 0
      ? [required(at, "at least one rules must be specified when the successPolicy is specified")]
      : rules.flatMap((rule, index) => validateSuccessRule(at.index(index), rule, completions))
  return rules.length > mostRules ? [tooMany(at, rules.length, mostRules), ...errors] : errors
}

function validateSuccessRule(path: FieldPath, rule: SuccessRule, completions: number): FieldError[] {
  const { succeededCount: count, succeededIndexes: indexes } = rule
  const errors: FieldError[] = []
  if (count === undefined && indexes === undefined) {
    errors.push(required(path, "at least one of succeededCount or succeededIndexes must be specified"))
  }
  let total = 0
  if (indexes !== undefined) {
    const at = path.child("succeededIndexes")
    if (Buffer.byteLength(indexes) > longestIndexes) errors.push(tooLong(at, "", longestIndexes))
    const counted = countIndexes(indexes, completions)
    if (typeof counted === "number") total = counted
    else errors.push(invalidValue(at, indexes, `error parsing succeededIndexes: ${counted.fault}`))
  }
  if (count === undefined) return errors
  const at = path.child("succeededCount")
  errors.push(...nonNegative(at, count))
  const atMost = (most: number, what: string): void => {
    if (count > most)
      errors.push(invalidValue(at, count, `must be less than or equal to ${most} (the number of ${what})`))
  }
  atMost(completions, "specified completions")
  if (indexes !== undefined) atMost(total, "indexes in the specified succeededIndexes field")
  return errors
}
