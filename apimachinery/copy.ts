// A copy of a JSON value that is the caller's own: several times faster than structuredClone, and than parsing it anew.

import { setOwn } from "./schema/json-object.ts"
import type { Json } from "./object.ts"

/** Fields that are undefined are left out. */
export function copyJson<T>(value: T): T {
  return copy(value as Json, false) as T
}

/** The same of what may be changed: frozen parts, which are taken for frozen to their leaves, are shared. */
export function copyUnfrozen<T>(value: T): T {
  return copy(value as Json, true) as T
}

function copy(value: Json, sharesFrozen: boolean): Json {
  if (typeof value !== "object" || value === null || (sharesFrozen && Object.isFrozen(value))) return value
  if (Array.isArray(value)) return value.map((item) => copy(item, sharesFrozen))
  const result: { [key: string]: Json } = {}
  for (const key in value) {
    const item = value[key]
    if (item !== undefined) setOwn(result, key, copy(item, sharesFrozen))
  }
  return result
}
