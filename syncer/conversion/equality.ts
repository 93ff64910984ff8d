// What one API server lacks of what another says of the same thing, and the patch (RFC 7386) that takes one to the other.

import { equalButNulls } from "../../apimachinery/equality.ts"
import { ownValue } from "../../apimachinery/schema/json-object.ts"

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/**
 * What of `wanted` is not in `present`, in whatever order. A tenant's lists are as long as an object may be: each item of one is not
 * compared with each of the other.
 */
export function missingFrom<T>(wanted: readonly T[], present: readonly T[]): T[] {
  const rest = wanted.filter((item, index) => !equalButNulls(item, present[index]))
  if (rest.length === 0) return rest
  const known = new Set(present.map(textOf))
  return rest.filter((item) => !known.has(textOf(item)))
}

/** The same for what is equal. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, field: unknown) => {
    if (!isRecord(field)) return field
    const present = Object.entries(field).filter(([, one]) => one !== null && one !== undefined)
    return Object.fromEntries(present.sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}

/** The merge patch from `from` to `to`, or undefined when they are equal. Arrays are replaced whole, as the RFC has it. */
export function mergeDiff(from: unknown, to: unknown): unknown {
  if (equalButNulls(from, to)) return undefined
  if (!isRecord(from) || !isRecord(to)) return to ?? null
  const patch: Record<string, unknown> = {}
  for (const key in to) {
    if ((to[key] ?? undefined) === undefined) continue
    const change = mergeDiff(ownValue(from, key), to[key])
    if (change !== undefined) patch[key] = change
  }
  for (const key in from) if ((ownValue(to, key) ?? undefined) === undefined && from[key] != null) patch[key] = null
  return patch
}
