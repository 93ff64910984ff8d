// Validates texts of a custom resource: their length in code points, and their pattern. Source:
// kube-openapi/pkg/validation/validate/values.go (MaxLength, MinLength, Pattern).

import { type FieldError, type FieldPath, invalidValue, tooLong } from "../field-errors.ts"
import { compilePattern } from "./regular-expressions/patterns.ts"
import type { SchemaRules } from "./schema.ts"

/** Returns only the first fault, like upstream. `shown`: the path in its message. */
export function textFault(
  { maxLength, minLength, pattern }: SchemaRules,
  value: string,
  { path, shown }: { path: FieldPath; shown: string },
): FieldError | undefined {
  if (maxLength !== undefined && Array.from(value).length > maxLength) return tooLong(path, value, maxLength)
  if (minLength !== undefined && Array.from(value).length < minLength) {
    return invalidValue(path, value, `${shown} in body should be at least ${minLength} chars long`)
  }
  const fault = pattern === undefined ? undefined : patternFault(pattern, value)
  return fault === undefined ? undefined : invalidValue(path, value, `${shown} in body ${fault}`)
}

function patternFault(pattern: string, value: string): string | undefined {
  try {
    return compilePattern(pattern).matches(value) ? undefined : `should match '${pattern}'`
  } catch (error) {
    // Some regular expressions cannot be matched against any text in bounded time.
    if (error instanceof RangeError) return `is too long to be matched with '${pattern}'`
    throw error
  }
}
