// Checks of labels and label selectors, wherever they stand. Source: k8s.io/apimachinery/pkg/apis/meta/v1/validation.

import type * as models from "@kubernetes/client-node"
import {
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
  for (const [index, requirement] of (selector.matchExpressions ?? []).entries()) {
    const at = path.child("matchExpressions").index(index)
    const values = requirement.values ?? []
    if (requirement.operator === "In" || requirement.operator === "NotIn") {
      if (values.length === 0) {
        errors.push(required(at.child("values"), "must be specified when `operator` is 'In' or 'NotIn'"))
      }
    } else if (requirement.operator === "Exists" || requirement.operator === "DoesNotExist") {
      if (values.length > 0) {
        errors.push(
          forbiddenField(at.child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
        )
      }
    } else {
      errors.push(invalidValue(at.child("operator"), requirement.operator ?? "", "not a valid selector operator"))
    }
    errors.push(...validateLabelName(at.child("key"), requirement.key))
    for (const [place, value] of values.entries()) {
      errors.push(...messages(at.child("values").index(place), value, validateLabelValue(value)))
    }
  }
  return errors
}

/** A selector without any requirement: matches everything. */
export function isEmptySelector(selector: LabelSelector): boolean {
  return Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0
}
