// Differences between values of two API servers, and the patch (RFC 7386) from one to the other.

import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { ownValue, setOwn } from "../../apimachinery/schema/json-object.ts"

interface Condition {
  type: string
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/**
 * The items of `wanted` that `present` lacks, in any order. Tenants' lists can be long, so not every pair of items is compared.
 */
export function missingFrom<T>(wanted: readonly T[], present: readonly T[]): T[] {
  const rest = wanted.filter((item, index) => !equalIgnoringNulls(item, present[index]))
  if (rest.length === 0) return rest
  const known = new Set(present.map(textOf))
  return rest.filter((item) => !known.has(textOf(item)))
}

/** Equal values have the same text. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, field: unknown) => {
    if (!isRecord(field)) return field
    const present = Object.entries(field).filter(([, one]) => one !== null && one !== undefined)
    return Object.fromEntries(present.sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}

/** What a strategic merge patch says of the conditions of `after` that `before` lacks. Those that only `before` has stay. */
export function changedConditions(before: readonly Condition[], after: readonly Condition[]): object[] {
  const there = new Map(before.map((condition) => [condition.type, condition]))
  return after.flatMap((condition): object[] => {
    const difference = mergeDiff(there.get(condition.type) ?? {}, condition)
    return difference === undefined ? [] : [{ ...(difference as object), type: condition.type }]
  })
}

/** The merge patch from `from` to `to`, or undefined if they are equal. Arrays are replaced as a whole, as in the RFC. */
export function mergeDiff(from: unknown, to: unknown): unknown {
  if (equalIgnoringNulls(from, to)) return undefined
  if (!isRecord(from) || !isRecord(to)) return to ?? null
  const patch: Record<string, unknown> = {}
  for (const key in to) {
    if ((to[key] ?? undefined) === undefined) continue
    const change = mergeDiff(ownValue(from, key), to[key])
    if (change !== undefined) setOwn(patch, key, change)
  }
  for (const key in from)
    if ((ownValue(to, key) ?? undefined) === undefined && from[key] != null) setOwn(patch, key, null)
  return patch
}
