// Whether two JSON values are the same text but for the order of keys: what an update that changes nothing looks like.

/** undefined fields count as absent. */
export function equalJson(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false
    return left.every((item, index) => equalJson(item, right[index]))
  }
  if (Array.isArray(right)) return false
  const a = left as Record<string, unknown>
  const b = right as Record<string, unknown>
  for (const key of Object.keys(a)) if (!equalJson(a[key], Object.hasOwn(b, key) ? b[key] : undefined)) return false
  for (const key of Object.keys(b)) if (b[key] !== undefined && !Object.hasOwn(a, key)) return false
  return true
}
