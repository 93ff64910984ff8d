// Equality of JSON values, regardless of the order of keys.

import { ownValue } from "./schema/json-object.ts"

/** undefined fields count as missing. */
export function equalJson(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false
    for (let index = 0; index < left.length; index++) if (!equalJson(left[index], right[index])) return false
    return true
  }
  if (Array.isArray(right)) return false
  const [a, b] = [left as Record<string, unknown>, right as Record<string, unknown>]
  let count = 0
  for (const name in a) {
    const value = a[name]
    if (value === undefined) continue
    if (!Object.hasOwn(b, name) || !equalJson(value, b[name])) return false
    count++
  }
  for (const name in b) if (b[name] !== undefined) count--
  return count === 0
}

/** null also counts as missing, since servers differ in which of the three they write. */
export function equalIgnoringNulls(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (left === undefined || left === null) return right === undefined || right === null
  if (typeof left !== "object" || typeof right !== "object" || right === null) return false
  if (Array.isArray(left)) {
    return (
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((item, index) => equalIgnoringNulls(item, right[index]))
    )
  }
  if (Array.isArray(right)) return false
  const [a, b] = [left as Record<string, unknown>, right as Record<string, unknown>]
  for (const name in a) if (!equalIgnoringNulls(a[name], ownValue(b, name))) return false
  for (const name in b) if (ownValue(a, name) === undefined && !equalIgnoringNulls(undefined, b[name])) return false
  return true
}
