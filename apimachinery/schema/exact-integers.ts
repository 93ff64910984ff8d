// 64-bit integers. A double cannot represent integers beyond 2^53 exactly, so these are bigints in memory; all others remain
// numbers. JSON.stringify writes both as they were read. JSON from clients must be parsed with parseJson.

import type { Json } from "../object.ts"

declare global {
  interface BigInt {
    toJSON(): unknown
  }
  interface JSON {
    rawJSON(text: string): unknown
    isRawJSON(value: unknown): boolean
    parse(text: string, reviver: (this: unknown, key: string, value: Json, context: { source?: string }) => Json): Json
  }
}

/** Without it JSON.stringify would throw. It must be loaded wherever a bigint may come from, which is this file. */
Object.defineProperty(BigInt.prototype, "toJSON", {
  configurable: true,
  value(this: bigint): unknown {
    return JSON.rawJSON(String(this))
  },
})

/** Integers with fewer digits are exact as doubles. */
const longDigits = 16
export const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n }
export const uint64 = { min: 0n, max: 2n ** 64n - 1n }

const [zero, nine, minus, quote] = [0x30, 0x39, 0x2d, 0x22]

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte <= nine
}

/**
 * Whether this JSON may contain an integer that a double cannot represent; never false if it does. Such an integer covers one of
 * every {@link longDigits} bytes, so that only few bytes are examined.
 */
export function mayHoldLongIntegers(json: Uint8Array): boolean {
  for (let at = longDigits - 1; at < json.length; at += longDigits) {
    if (!isDigit(json[at])) continue
    let start = at
    while (isDigit(json[start - 1])) start--
    let end = at + 1
    while (isDigit(json[end])) end++
    // The rest of these digits is not examined again: a string may consist of them.
    while (at + longDigits < end) at += longDigits
    if (end - start < longDigits) continue
    if (json[start - 1] === minus) start--
    // Digits between quotes are a string; other strings only cause an unnecessary exact parse.
    if (json[start - 1] !== quote || json[end] !== quote) return true
  }
  return false
}

/** The value of a 64-bit integer literal; undefined if it is a double, as in Go. */
export function exactInteger(literal: string): number | bigint | undefined {
  // At most as many digits as an int64: the time for parsing a BigInt is not linear.
  if (!/^-?\d{1,19}$/.test(literal)) return undefined
  const value = BigInt(literal)
  if (value < int64.min || value > int64.max) return undefined
  return narrowest(value)
}

/** The value of an unsigned 64-bit integer literal; undefined if it is none. */
export function unsignedInteger(literal: string): bigint | undefined {
  const value = /^\d{1,20}$/.test(literal) ? BigInt(literal) : undefined
  return value !== undefined && value <= uint64.max ? value : undefined
}

/** Returns a number if that is exact. */
export function narrowest(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/**
 * Whether the value is an integer in either representation. As in upstream, doubles beyond 2^53 are not: they were written as
 * doubles.
 */
export function isInteger(value: unknown): value is number | bigint {
  return typeof value === "bigint" || Number.isSafeInteger(value)
}

/** Like JSON.parse, but exact. */
export function parseJson(bytes: Buffer): Json {
  const text = bytes.toString()
  return mayHoldLongIntegers(bytes) ? parseExactly(text) : (JSON.parse(text) as Json)
}

const longNumber = new RegExp(`\\d{${longDigits}}`)

/** Like {@link parseJson}, for a string. */
export function parseExactly(text: string): Json {
  // Visiting each number takes several times as long as parsing.
  if (!longNumber.test(text)) return JSON.parse(text) as Json
  return JSON.parse(text, (_, value, { source }) =>
    typeof value === "number" && source !== undefined && !Number.isSafeInteger(value)
      ? (exactInteger(source) ?? value)
      : value,
  )
}
