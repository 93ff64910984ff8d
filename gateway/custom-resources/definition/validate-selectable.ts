// The selectable fields of custom resources: plain fields of the schema with a type that has a unique text. Source:
// ValidateCustomResourceSelectableFields and ValidFieldPath of k8s.io/apiextensions-apiserver.

import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalidValue,
  required,
  tooMany,
} from "../../../apimachinery/field-errors.ts"
import { followFieldPath } from "../../../apimachinery/cel/rules/field-path.ts"
import type { Json } from "../../../apimachinery/object.ts"
import { isObject } from "../../../apimachinery/schema/json-object.ts"

const selectableTypes: readonly unknown[] = ["boolean", "integer", "string"]
const maxSelectableFields = 8

export function validateSelectable(
  at: FieldPath,
  selected: readonly { jsonPath?: string }[],
  schema: Json,
): FieldError[] {
  const errors: FieldError[] = []
  const found = new Set<string>()
  for (const [index, { jsonPath = "" }] of selected.entries()) {
    const place = at.index(index).child("jsonPath")
    if (jsonPath === "") {
      errors.push(required(place))
      continue
    }
    const field = followFieldPath(jsonPath, isObject(schema) ? schema : undefined, { brackets: false })
    if ("fault" in field) {
      errors.push(invalidValue(place, jsonPath, `is an invalid path: ${field.fault}`))
      continue
    }
    const path = field.path.toString()
    if (/^metadata(?:\.|$)/.test(path)) {
      errors.push(invalidValue(place, jsonPath, "must not point to fields in metadata"))
    }
    if (!selectableTypes.includes(field.schema?.["type"])) errors.push(invalidValue(place, jsonPath, notSelectable))
    if (found.has(path)) errors.push(duplicate(place, jsonPath))
    found.add(path)
  }
  if (found.size > maxSelectableFields) errors.push(tooMany(at, found.size, maxSelectableFields))
  return errors
}

const notSelectable =
  "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed."
