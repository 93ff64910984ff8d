// The error of a value for which a rule is false.

import {
  duplicate,
  FieldError,
  type FieldPath,
  forbiddenField,
  invalidValue,
  omitted,
  required,
} from "../../field-errors.ts"
import type { CompiledRule } from "./rule.ts"

/** Objects and lists are not included in errors. */
export function failure({ source }: CompiledRule, path: FieldPath, value: unknown, detail: string): FieldError {
  switch (source.reason) {
    case "FieldValueForbidden":
      return forbiddenField(path, detail)
    case "FieldValueRequired":
      return required(path, detail)
    case "FieldValueDuplicate":
      return value === undefined ? new FieldError("FieldValueDuplicate", path, omitted, "") : duplicate(path, value)
    default:
      return value === undefined
        ? new FieldError("FieldValueInvalid", path, omitted, detail)
        : invalidValue(path, value, detail)
  }
}
