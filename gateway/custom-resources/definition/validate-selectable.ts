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
import type { Json } from "../../../apimachinery/object.ts"
import { isObject, type JsonObject, ownValue } from "../../../apimachinery/schema/json-object.ts"

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
    const field = fieldAt(jsonPath, schema)
    if (typeof field === "string") {
      errors.push(invalidValue(place, jsonPath, `is an invalid path: ${field}`))
      continue
    }
    if (/^\.metadata(?:\.|$)/.test(jsonPath)) {
      errors.push(invalidValue(place, jsonPath, "must not point to fields in metadata"))
    }
    if (!selectableTypes.includes(field["type"])) errors.push(invalidValue(place, jsonPath, notSelectable))
    if (found.has(jsonPath)) errors.push(duplicate(place, jsonPath))
    found.add(jsonPath)
  }
  if (found.size > maxSelectableFields) errors.push(tooMany(at, found.size, maxSelectableFields))
  return errors
}

const notSelectable =
  "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed."
const notThere = "does not refer to a valid field"
const token = /[.[\]]|[^.[\]]+/g

/** Returns the schema of the field, or the error in the path. */
function fieldAt(path: string, schema: Json): JsonObject | string {
  const tokens = (path.match(token) ?? [])[Symbol.iterator]()
  let at: Json | undefined = schema
  for (const delimiter of tokens) {
    if (delimiter === "[") return "array notation is not allowed"
    if (delimiter !== ".") return `expected [ or . but got: ${delimiter}`
    const { value: name } = tokens.next()
    if (name === undefined) return "unexpected end of JSON path"
    if (!isObject(at)) return notThere
    const { properties, additionalProperties }: JsonObject = at
    if (!isObject(properties)) at = additionalProperties
    else at = ownValue(properties, name)
    if (!isObject(at)) return notThere
  }
  return isObject(at) ? at : notThere
}
