// A copy of a JSON value that is the caller's own: several times faster than structuredClone, and than parsing it anew.

import { setOwn } from "./schema/json-object.ts"
import type { Json } from "./object.ts"

/** Fields that are undefined are left out. */
export function copyJson<T>(value: T): T {
  return copy(value as Json) as T
}

function copy(value: Json): Json {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(copy)
  const result: { [key: string]: Json } = {}
  for (const key in value) {
    const item = value[key]
    if (item !== undefined) setOwn(result, key, copy(item))
  }
  return result
}
