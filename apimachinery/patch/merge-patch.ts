// JSON Merge Patch, RFC 7386: null removes, objects merge, anything else replaces.

import type { Json } from "../object.ts"
import { isObject, type JsonObject, ownValue, setOwn } from "../schema/json-object.ts"
import { badRequest } from "../status.ts"

/** A JSON value's type as Go's decoder names it in its errors. */
export function jsonKind(value: Json): string {
  if (typeof value === "boolean") return "bool"
  if (Array.isArray(value)) return "array"
  if (typeof value === "bigint") return "number"
  return value === null ? "null" : typeof value
}

/**
 * Returns a new value; shares unchanged parts with `target`. Throws BadRequest for what is no patch of an object; `isRead`: it was
 * read for what is unknown or twice in it, which says more.
 */
export function applyMergePatch(target: Json | undefined, patch: Json, isRead = true): Json {
  if (isObject(patch) || (!isRead && Array.isArray(patch))) return merge(target, patch)
  if (patch === null || !isRead) throw badRequest("Invalid JSON Patch")
  throw badRequest(
    `error decoding patch: json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`,
  )
}

/**
 * Upstream drops null fields of objects in lists too, unless the list takes an object's place. Source: pruneAryNulls in
 * gopkg.in/evanphx/json-patch.v4.
 */
function withoutNulls(value: Json): Json {
  return typeof value === "object" && value !== null ? merge(undefined, value) : value
}

function merge(target: Json | undefined, patch: Json): Json {
  if (Array.isArray(patch)) return isObject(target) ? patch : patch.map(withoutNulls)
  if (!isObject(patch)) return patch
  const result: JsonObject = isObject(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else setOwn(result, key, merge(ownValue(result, key), value))
  }
  return result
}
