// Validates the sizes and resize states in the status of a claim. Source: k8s.io/kubernetes/pkg/apis/core/validation.

import {
  type FieldError,
  FieldPath,
  invalidValue,
  notSupported,
  required,
} from "../../../../apimachinery/field-errors.ts"
import { validateQualifiedName } from "../../../../apimachinery/names.ts"
import type { PersistentVolumeClaim } from "../../../../apimachinery/object.ts"
import { int64Units } from "../../../../apimachinery/quantity-integers.ts"
import { parseQuantity } from "../../../../apimachinery/quantity.ts"
import { messages } from "../../validation/values.ts"
import { isNativeResource } from "../pod-spec/resources.ts"

const resizeStatuses = [
  "ControllerResizeInProgress",
  "ControllerResizeInfeasible",
  "NodeResizeInProgress",
  "NodeResizeInfeasible",
  "NodeResizePending",
]

export function validateClaimStatus({ spec, status }: PersistentVolumeClaim): FieldError[] {
  const errors = (spec?.accessModes ?? []).length === 0 ? [required(FieldPath.root("Spec", "accessModes"))] : []
  const at = FieldPath.root("status")
  for (const [name, amount] of entries(status?.capacity)) {
    errors.push(...notNegative(at.child("capacity").key(name), amount))
  }
  const statuses = at.child("allocatedResourceStatuses")
  for (const [name, value] of entries(status?.allocatedResourceStatuses)) {
    errors.push(...validateResource(statuses, name))
    if (!resizeStatuses.includes(value)) errors.push(notSupported(statuses, name, resizeStatuses))
  }
  const allocated = at.child("allocatedResources")
  for (const [name, amount] of entries(status?.allocatedResources)) {
    const faults = validateResource(allocated, name)
    errors.push(...(faults.length > 0 ? faults : notNegative(allocated.key(name), amount)))
  }
  return errors
}

/** storage is the only native resource that can be resized. */
function validateResource(at: FieldPath, name: string): FieldError[] {
  const faults = messages(at, name, validateQualifiedName(name))
  if (faults.length > 0) return faults
  return isNativeResource(name) && name !== "storage" ? [notSupported(at, name, ["storage"])] : []
}

export function notNegative(at: FieldPath, amount: string): FieldError[] {
  const value = int64Units(parseQuantity(amount))
  return value < 0 ? [invalidValue(at, value, "must be a valid resource quantity")] : []
}

/** Sorted by name, so that the errors of an object are deterministic. */
function entries(map: object | undefined): [string, string][] {
  return Object.entries((map ?? {}) as Record<string, string>).sort(([a], [b]) => (a < b ? -1 : 1))
}
