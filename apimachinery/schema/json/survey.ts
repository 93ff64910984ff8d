// A quick survey of the JSON of every request before it is parsed: nesting, number of keys, and whether numbers are exact as
// doubles.

import type { Json } from "../../object.ts"

/**
 * Maximum nesting of a value. Go's decoder allows 10000; the traversals here are recursive and share one stack, so the limit is
 * lower, yet far above any real object.
 */
export const maxDepth = 1000
/** The error for a value with deeper nesting. */
export const tooDeep = "exceeded max depth"

interface Survey {
  depth: number
  /** Number of keys including duplicates: equals that of the parsed value if there are no duplicates. */
  keys: number
  /** Whether there may be numbers that JSON.parse changes; never false if there are. */
  oddNumbers: boolean
}

const quote = 0x22
const backslash = 0x5c
/** Integers with up to 15 digits are exact as doubles. */
const exactDigits = 15

/** One pass over the bytes of (possibly malformed) JSON to determine how it can be parsed. */
export function survey(bytes: Uint8Array): Survey {
  let depth = 0
  let deepest = 0
  let digits = 0
  let keys = 0
  let oddNumbers = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte >= 0x30 && byte <= 0x39) {
      if (++digits > exactDigits) oddNumbers = true
      continue
    }
    if (digits > 0 && (byte === 0x2e || byte === 0x45 || byte === 0x65)) oddNumbers = true
    digits = 0
    if (byte === quote) at = endOfString(bytes, at)
    else if (byte === 0x3a) keys++
    else if (byte === 0x7b || byte === 0x5b) deepest = Math.max(deepest, ++depth)
    else if (byte === 0x7d || byte === 0x5d) depth--
  }
  return { depth: deepest, keys, oddNumbers }
}

/** The bracket or brace that opens this nesting level. */
export function openingAt(bytes: Uint8Array, wanted: number): string {
  let depth = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte === quote) at = endOfString(bytes, at)
    else if (byte === 0x7d || byte === 0x5d) depth--
    else if ((byte === 0x7b || byte === 0x5b) && ++depth === wanted) return String.fromCharCode(byte)
  }
  return ""
}

/** The number of all keys of a parsed value, at every level. */
export function countKeys(value: Json): number {
  if (typeof value !== "object" || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") count += countKeys(item)
    return count
  }
  for (const key of Object.keys(value)) {
    const inner = value[key] as Json
    count += typeof inner === "object" ? 1 + countKeys(inner) : 1
  }
  return count
}

function endOfString(bytes: Uint8Array, from: number): number {
  let at = from + 1
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return at
}
