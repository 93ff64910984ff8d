// Equality of values as the API means it: an absent field, null and an empty list are the same thing, and numbers and texts
// are compared as they are. An empty struct that was given is another than none. Both sides have passed the decoder, which
// drops empty maps and writes structs that are always there, so a {} that only one side has was given. Source:
// k8s.io/apimachinery/pkg/api/equality (Semantic), which also compares quantities by value; those are canonical text by the
// time anything is compared.

import { type FieldError, type FieldPath, invalidValue } from "../../../apimachinery/field-errors.ts"
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
  const a = left as Record<string, unknown>
  const b = right as Record<string, unknown>
  for (const key of Object.keys(a)) if (!semanticEqual(a[key], b[key])) return false
  for (const key of Object.keys(b)) if (!Object.hasOwn(a, key) && !isNothing(b[key])) return false
  return true
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
}

/** "field is immutable" when the two differ. */
export function immutableField(path: FieldPath, value: unknown, current: unknown): FieldError[] {
  return semanticEqual(value, current) ? [] : [invalidValue(path, value, immutable)]
}

/** The same for several fields of one object. */
export function immutableFields(
  path: FieldPath,
  value: object,
  current: object,
  names: readonly string[],
): FieldError[] {
  const a = value as Record<string, unknown>
  const b = current as Record<string, unknown>
  return names.flatMap((name) => immutableField(path.child(name), a[name], b[name]))
}

/** Which fields differ, for the person reading. */
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
