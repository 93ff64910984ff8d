// Whether two JSON values are the same text but for the order of keys: what an update that changes nothing looks like.

/** undefined fields count as absent. */
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
