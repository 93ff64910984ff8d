// Copies JSON values: several times faster than structuredClone or parsing again.

import { setOwn } from "./schema/json-object.ts"
import type { Json } from "./object.ts"

/** Omits fields that are undefined. */
export function copyJson<T>(value: T): T {
  return copy(value as Json, false) as T
}

/** The same, but frozen parts, which are assumed to be deeply frozen, are shared. */
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
