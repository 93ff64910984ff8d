// Equality of parsed JSON. A field that is undefined or null is one that is not there.

export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (a === undefined || a === null) return b === undefined || b === null
  if (typeof a !== "object" || typeof b !== "object" || b === null) return false
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => jsonEqual(item, b[index]))
  }
  if (Array.isArray(b)) return false
  const left = a as Record<string, unknown>
  const right = b as Record<string, unknown>
  for (const key in left) if (!jsonEqual(left[key], right[key])) return false
  for (const key in right) if (left[key] === undefined && !jsonEqual(undefined, right[key])) return false
  return true
}
