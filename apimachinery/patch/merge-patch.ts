// JSON Merge Patch, RFC 7386: null removes, objects are merged, anything else replaces.

import type { Json } from "../object.ts"
import { isObject, type JsonObject, ownValue, setOwn } from "../schema/json-object.ts"
import { badRequest } from "../status.ts"

/** The type of a JSON value as named by errors of Go's decoder. */
export function jsonKind(value: Json): string {
  if (typeof value === "boolean") return "bool"
  if (Array.isArray(value)) return "array"
  if (typeof value === "bigint") return "number"
  return value === null ? "null" : typeof value
}

/**
 * Returns a new value that shares unchanged parts with `target`. Throws BadRequest if the patch is not valid for an object.
 * `isRead`: the patch was also decoded to find unknown and duplicate fields, whose errors are more detailed.
 */
export function applyMergePatch(target: Json | undefined, patch: Json, isRead = true): Json {
  if (isObject(patch) || (!isRead && Array.isArray(patch))) return merge(target, patch)
  if (patch === null || !isRead) throw badRequest("Invalid JSON Patch")
  throw badRequest(
    `error decoding patch: json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`,
  )
}

/**
 * Upstream also drops null fields of objects in lists, unless the list replaces an object. Source: pruneAryNulls in
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
