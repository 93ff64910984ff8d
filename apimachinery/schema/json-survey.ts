// What is looked at before JSON is read: how deep it is, how many keys it has, whether its numbers are exact as doubles. Quick: for
// every request.

import type { Json } from "../object.ts"

/**
 * Nesting of a value. Go's decoder allows 10000; what walks values here is recursive and shares one stack, so it is less,
 * yet far beyond any real object.
 */
export const maxDepth = 1000
/** What is said of one that is nested deeper. */
export const tooDeep = "exceeded max depth"

export interface Survey {
  depth: number
  /** Keys, counted as often as they are given: as many as the parsed value has, when none is given twice. */
  keys: number
  /** There may be numbers that JSON.parse changes. Never false when there are. */
  oddNumbers: boolean
}

const quote = 0x22
const backslash = 0x5c
/** Integers of up to 15 digits are exact as doubles. */
const exactDigits = 15

/** One pass over the bytes of (possibly malformed) JSON: what decides how it may be read. */
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

/** The bracket or brace that opens this depth. */
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

/** All keys of a parsed value, at every level. */
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
