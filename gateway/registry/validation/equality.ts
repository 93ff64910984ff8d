// Semantic equality of API values: a missing field, null and an empty list are equal; numbers and strings are compared exactly. An
// explicitly empty struct differs from a missing one: both sides have been decoded, which drops empty maps and adds structs that
// are always present, so a {} on only one side is explicit. Source: k8s.io/apimachinery/pkg/api/equality (Semantic), which also
// compares quantities by value; here the same amounts have been given the same text before (apimachinery/schema/quantities.ts).
// A time with a fraction of a second differs from the stored one, which has none.

import { asJson, type FieldError, type FieldPath, invalidValue } from "../../../apimachinery/field-errors.ts"
import { hasGivenFraction } from "../../../apimachinery/schema/decode/given.ts"
import { immutable } from "./values.ts"

export function semanticEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (isNothing(left) || isNothing(right)) return isNothing(left) && isNothing(right)
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false
  if (Array.isArray(left) || Array.isArray(right)) {
    return (
      Array.isArray(left) &&
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((item, index) => semanticEqual(item, right[index]))
    )
  }
  if (hasGivenFraction(left) || hasGivenFraction(right)) return false
  const a = left as Record<string, unknown>
  const b = right as Record<string, unknown>
  for (const key of Object.keys(a)) if (!semanticEqual(a[key], b[key])) return false
  for (const key of Object.keys(b)) if (!Object.hasOwn(a, key) && !isNothing(b[key])) return false
  return true
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
}

/** "field is immutable" if the two differ. */
export function immutableField(path: FieldPath, value: unknown, current: unknown): FieldError[] {
  return semanticEqual(value, current) ? [] : [invalidValue(path, value, immutable)]
}

/** The same for several fields of one object, none of which is plainly a string upstream. */
export function immutableFields(
  path: FieldPath,
  value: object,
  current: object,
  names: readonly string[],
): FieldError[] {
  const a = value as Record<string, unknown>
  const b = current as Record<string, unknown>
  return names.flatMap((name) =>
    semanticEqual(a[name], b[name]) ? [] : [invalidValue(path.child(name), asJson(a[name]), immutable)],
  )
}

/** The fields that differ, for human readers. */
export function difference(value: object, current: object): string {
  const a = value as Record<string, unknown>
  const b = current as Record<string, unknown>
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])]
    .sort()
    .filter((name) => !semanticEqual(a[name], b[name]))
  return names
    .map((name) => `-${name}: ${JSON.stringify(b[name] ?? null)}\n+${name}: ${JSON.stringify(a[name] ?? null)}`)
    .join("\n")
}
