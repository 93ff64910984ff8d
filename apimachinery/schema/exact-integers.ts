// Integers of 64 bits. Beyond 2^53 a double would change them, so such an integer is a bigint in memory; all others stay
// numbers. JSON.stringify writes both as they were read. Whoever parses JSON that a client wrote does it with parseJson.

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

/** Without it JSON.stringify would throw: it must be there wherever a bigint may come from, which is this file. */
Object.defineProperty(BigInt.prototype, "toJSON", {
  configurable: true,
  value(this: bigint): unknown {
    return JSON.rawJSON(String(this))
  },
})

/** Integers of fewer digits are exact as doubles. */
const longDigits = 16
export const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n }
export const uint64 = { min: 0n, max: 2n ** 64n - 1n }

const [zero, nine, minus, quote] = [0x30, 0x39, 0x2d, 0x22]

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte <= nine
}

/**
 * May this JSON hold an integer that is none as a double? Never false when it does. Such an integer covers one of every
 * {@link longDigits} bytes, so that few are looked at.
 */
export function mayHoldLongIntegers(json: Uint8Array): boolean {
  for (let at = longDigits - 1; at < json.length; at += longDigits) {
    if (!isDigit(json[at])) continue
    let start = at
    while (isDigit(json[start - 1])) start--
    let end = at + 1
    while (isDigit(json[end])) end++
    if (end - start < longDigits) continue
    if (json[start - 1] === minus) start--
    // What begins and ends with a quote is text made of digits; other texts are parsed once more than they had to be.
    if (json[start - 1] !== quote || json[end] !== quote) return true
  }
  return false
}

/** An integer literal of 64 bits as it is kept in memory; undefined: a double will do, as in Go. */
export function exactInteger(literal: string): number | bigint | undefined {
  // No more digits than an int64 has: reading a BigInt takes longer than its length.
  if (!/^-?\d{1,19}$/.test(literal)) return undefined
  const value = BigInt(literal)
  if (value < int64.min || value > int64.max) return undefined
  return narrowest(value)
}

/** A whole number without a sign, of 64 bits. Undefined: it is none. */
export function unsignedInteger(literal: string): bigint | undefined {
  const value = /^\d{1,20}$/.test(literal) ? BigInt(literal) : undefined
  return value !== undefined && value <= uint64.max ? value : undefined
}

/** A number when that is exact. */
export function narrowest(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/** Is it a whole number, however it is kept? As upstream has it, a double beyond 2^53 is none: it was written as one. */
export function isInteger(value: unknown): value is number | bigint {
  return typeof value === "bigint" || Number.isSafeInteger(value)
}

/** As JSON.parse, but exact. */
export function parseJson(bytes: Buffer): Json {
  const text = bytes.toString()
  return mayHoldLongIntegers(bytes) ? parseExactly(text) : (JSON.parse(text) as Json)
}

const longNumber = new RegExp(`\\d{${longDigits}}`)

/** As {@link parseJson}, of a text. */
export function parseExactly(text: string): Json {
  // To look at each number costs several times what parsing does.
  if (!longNumber.test(text)) return JSON.parse(text) as Json
  return JSON.parse(text, (_, value, { source }) =>
    typeof value === "number" && source !== undefined && !Number.isSafeInteger(value)
      ? (exactInteger(source) ?? value)
      : value,
  )
}
