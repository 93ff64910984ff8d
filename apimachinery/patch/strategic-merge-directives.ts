// The directives of strategic merge patches, their removal from a patch, and the errors.

import { isObject, type JsonObject, setOwn } from "../schema/json-object.ts"
import { printGo, printGoNumber } from "../go/print.ts"
import type { Json } from "../object.ts"
import { isInteger } from "../schema/exact-integers.ts"
import { badRequest, type StatusError, unexplained } from "../status.ts"
import { jsonKind } from "./merge-patch.ts"

export const patchDirective = "$patch"
export const retainKeysDirective = "$retainKeys"
export const orderPrefix = "$setElementOrder"
export const deletePrefix = "$deleteFromPrimitiveList"

export function isDirective(key: string): boolean {
  return key === retainKeysDirective || key.startsWith(orderPrefix) || key.startsWith(deletePrefix)
}

/** "$setElementOrder/containers" → "containers". */
export function listName(directive: string, prefix: string): string {
  if (directive[prefix.length] === "/") return directive.slice(prefix.length + 1)
  throw badRequest(`invalid patch format of ${prefix === orderPrefix ? "setElementOrder" : "primitive"} list`)
}

/** The value of a patch where there is nothing to merge with; undefined if it is only a directive. */
export function asNew(patch: Json): Json | undefined {
  dropNulls(patch)
  return withoutDirectives(patch)
}

/** Modifies the value. */
function dropNulls(value: Json): void {
  if (Array.isArray(value)) for (const item of value) dropNulls(item)
  if (!isObject(value)) return
  for (const [key, item] of Object.entries(value)) {
    if (item === null) delete value[key]
    else dropNulls(item)
  }
}

/**
 * Modifies objects and copies lists. Only the directive $patch is recognized there; others are treated as unknown fields of the
 * kind.
 */
export function withoutDirectives(value: Json): Json | undefined {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined)
  if (!isObject(value)) return value
  if (Object.hasOwn(value, patchDirective)) return undefined
  for (const [key, item] of Object.entries(value)) {
    const kept = withoutDirectives(item)
    if (kept === undefined) delete value[key]
    else if (kept !== item) setOwn(value, key, kept)
  }
  return value
}

export function notOfKind(wanted: string, value: Json): StatusError {
  const list = Array.isArray(value) ? "[]interface {}" : undefined
  const kind = list ?? (isObject(value) ? "map[string]interface {}" : value === null ? "%!s(<nil>)" : goType(value))
  return unexplained(`expected a ${wanted}, but received a ${kind}`)
}

function goType(value: Json): string {
  return typeof value === "number" || typeof value === "bigint" ? goNumberType(value) : jsonKind(value)
}

function goNumberType(value: number | bigint): string {
  return isInteger(value) ? "int64" : "float64"
}

export function unknownDirective(directive: Json, patch: JsonObject): StatusError {
  return unexplained(`unknown patch type: ${printAsText(directive)} in map: ${printGo(patch)}`)
}

export function noMergeKey(item: JsonObject, mergeKey: string): StatusError {
  return unexplained(`map: ${printGo(item)} does not contain declared merge key: ${mergeKey}`)
}

/** Formats like Go's %s for values that are not strings: a null at the top level is formatted differently from a nested one. */
function printAsText(value: Json): string {
  if (value === null) return "%!s(<nil>)"
  return printInner(value)
}

function printInner(value: Json): string {
  if (typeof value === "string") return value
  if (value === null) return "<nil>"
  if (Array.isArray(value)) return `[${value.map(printInner).join(" ")}]`
  if (isObject(value)) {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
    return `map[${entries.map(([key, item]) => `${key}:${printInner(item)}`).join(" ")}]`
  }
  if (typeof value === "boolean") return `%!s(bool=${value})`
  return `%!s(${goNumberType(value)}=${printGoNumber(value)})`
}
