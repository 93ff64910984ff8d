// Validates what a client may write into metadata.managedFields, and names of managers. Invalid operations and types of fields are
// found only in embedded objects: those of an object itself are not taken. Source:
// k8s.io/apimachinery/pkg/apis/meta/v1/validation/validation.go.

import { type FieldError, type FieldPath, invalidValue, tooLong } from "../field-errors.ts"
import type { ManagedFieldsEntry } from "./managers.ts"

/** In bytes. */
export const maxManager = 128
const maxSubresource = 256

export const unprintable = /[^ -~\p{L}\p{M}\p{N}\p{P}\p{S}]/u
const everyUnprintable = new RegExp(unprintable, "gu")

export function validateManagedFields(entries: readonly Partial<ManagedFieldsEntry>[], path: FieldPath): FieldError[] {
  return entries.flatMap(({ operation = "", fieldsType = "", manager = "", subresource = "" }, index) => {
    const at = path.index(index)
    const errors: FieldError[] = []
    if (operation !== "Apply" && operation !== "Update")
      errors.push(invalidValue(at.child("operation"), operation, "must be `Apply` or `Update`"))
    if (fieldsType !== "" && fieldsType !== "FieldsV1")
      errors.push(invalidValue(at.child("fieldsType"), fieldsType, "must be `FieldsV1`"))
    errors.push(...validateFieldManager(manager, at.child("manager")))
    if (Buffer.byteLength(subresource) > maxSubresource)
      errors.push(tooLong(at.child("subresource"), "", maxSubresource))
    return errors
  })
}

export function validateFieldManager(manager: string, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  if (Buffer.byteLength(manager) > maxManager) errors.push(tooLong(path, "", maxManager))
  for (const { 0: odd, index } of manager.matchAll(everyUnprintable)) {
    const code = (odd.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")
    const at = Buffer.byteLength(manager.slice(0, index))
    errors.push(invalidValue(path, manager, `invalid character U+${code} (at position ${at})`))
  }
  return errors
}
