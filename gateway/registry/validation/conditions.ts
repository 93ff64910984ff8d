// Validates metav1.Condition. Source: k8s.io/apimachinery/pkg/apis/meta/v1/validation ValidateConditions.

import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalidValue,
  notSupported,
  required,
  tooLong,
} from "../../../apimachinery/field-errors.ts"
import { validateLabelName } from "./selectors.ts"

export interface Condition {
  type?: string
  status?: string
  observedGeneration?: number | bigint
  lastTransitionTime?: string | null
  reason?: string
  message?: string
}

const statuses = ["False", "True", "Unknown"]
const longestReason = 1024
const longestMessage = 32 * 1024

export function validateConditions(path: FieldPath, conditions: readonly Condition[] = []): FieldError[] {
  const seen = new Set<string>()
  return conditions.flatMap((condition, index) => {
    const { type = "" } = condition
    const at = path.index(index)
    const errors = seen.has(type) ? [duplicate(at.child("type"), type)] : []
    seen.add(type)
    return [...errors, ...validateCondition(at, condition)]
  })
}

function validateCondition(path: FieldPath, condition: Condition): FieldError[] {
  const {
    type,
    status = "",
    observedGeneration: generation = 0,
    lastTransitionTime,
    reason = "",
    message = "",
  } = condition
  const errors = validateLabelName(path.child("type"), type)
  if (!statuses.includes(status)) errors.push(notSupported(path.child("status"), status, statuses))
  if (generation < 0) {
    errors.push(invalidValue(path.child("observedGeneration"), generation, "must be greater than or equal to zero"))
  }
  if (!lastTransitionTime) errors.push(required(path.child("lastTransitionTime")))
  if (reason === "") errors.push(required(path.child("reason")))
  else if (!/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(reason)) {
    const detail =
      "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"
    errors.push(invalidValue(path.child("reason"), reason, detail))
  }
  if (Buffer.byteLength(reason) > longestReason) errors.push(tooLong(path.child("reason"), "", longestReason))
  if (Buffer.byteLength(message) > longestMessage) errors.push(tooLong(path.child("message"), "", longestMessage))
  return errors
}
