// Parsed objects are shared by all readers, so none may change them.

/** Only own, plain JSON: no cycles. What is frozen already is taken for frozen to its leaves. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value
  if (Array.isArray(value)) for (const item of value) deepFreeze(item)
  else for (const key in value) deepFreeze(value[key])
  return Object.freeze(value)
}
