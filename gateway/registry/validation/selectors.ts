// Validates labels and label selectors. Source: k8s.io/apimachinery/pkg/apis/meta/v1/validation.

import type * as models from "@kubernetes/client-node"
import {
  asJson,
  type FieldError,
  type FieldPath,
  forbiddenField,
  invalidValue,
  required,
} from "../../../apimachinery/field-errors.ts"
import { validateLabelValue, validateQualifiedName } from "../../../apimachinery/names.ts"
import type { Wire } from "../../../apimachinery/object.ts"
import { messages } from "./values.ts"

export type LabelSelector = Wire<models.V1LabelSelector>

export function validateLabelName(path: FieldPath, name: string | undefined): FieldError[] {
  return messages(path, name ?? "", validateQualifiedName(name ?? ""))
}

export function validateLabels(path: FieldPath, labels: Readonly<Record<string, string>> | undefined): FieldError[] {
  return Object.entries(labels ?? {}).flatMap(([name, value]) => [
    ...validateLabelName(path, name),
    ...messages(path, value, validateLabelValue(value)),
  ])
}

export function validateLabelSelector(path: FieldPath, selector: LabelSelector | undefined): FieldError[] {
  if (selector === undefined) return []
  const errors = validateLabels(path.child("matchLabels"), selector.matchLabels)
  const at = path.child("matchExpressions")
  return [
    ...errors,
    ...(selector.matchExpressions ?? []).flatMap((requirement, index) =>
      validateRequirement(at.index(index), requirement),
    ),
  ]
}

export interface Requirement {
  key?: string
  operator?: string
  values?: readonly string[]
}

/** "any operator": unknown operators, which newer clients may know, are accepted. */
export function validateRequirement(
  at: FieldPath,
  requirement: Requirement,
  operators: "known operators" | "any operator" = "known operators",
): FieldError[] {
  return [
    ...validateOperands(at, requirement),
    ...(operators === "any operator" || knownOperators.has(requirement.operator ?? "")
      ? []
      : [invalidValue(at.child("operator"), asJson(requirement.operator ?? ""), "not a valid selector operator")]),
    ...validateLabelName(at.child("key"), requirement.key),
    ...(requirement.values ?? []).flatMap((value, place) =>
      messages(at.child("values").index(place), value, validateLabelValue(value)),
    ),
  ]
}

export const knownOperators: ReadonlySet<string> = new Set(["In", "NotIn", "Exists", "DoesNotExist"])

/** Checks the presence of values according to the operator. */
export function validateOperands(at: FieldPath, { operator, values = [] }: Requirement): FieldError[] {
  const isOfValues = operator === "In" || operator === "NotIn"
  if (isOfValues && values.length === 0)
    return [required(at.child("values"), "must be specified when `operator` is 'In' or 'NotIn'")]
  return (operator === "Exists" || operator === "DoesNotExist") && values.length > 0
    ? [forbiddenField(at.child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
    : []
}

/** A selector without requirements matches everything. */
export function isEmptySelector(selector: LabelSelector): boolean {
  return Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0
}
