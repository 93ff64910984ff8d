// Durations as Go writes them ("1h2m3.5s"). Pure.

import { dictionary } from "../dictionary.ts"
import { timeQuote } from "./quote.ts"

const units: Readonly<Record<string, bigint>> = dictionary({
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
})
/** Longer ones are no duration, and would take time. */
const maxDigits = 19
/** Of nanoseconds, which may be negative. */
const most = 2n ** 63n
/** More of a fraction have no effect. */
const maxFractionDigits = 18

/** 292 years: a duration is 64 bits of nanoseconds. */
export const longestMs = 2 ** 63 / 1e6

/** Returns undefined if the text is not a duration. */
export function parseGoDuration(text: string): number | undefined {
  const nanoseconds = goNanoseconds(text)
  return nanoseconds === undefined ? undefined : Number(nanoseconds) / 1e6
}

/** Returns undefined if the text is not a duration. */
export function goNanoseconds(text: string): bigint | undefined {
  const read = readDuration(text)
  return typeof read === "bigint" ? read : undefined
}

/** Go's error for an invalid duration; for a valid one an empty text. */
export function durationFault(text: string): string {
  const read = readDuration(text)
  return typeof read === "bigint" ? "" : read
}

/** The nanoseconds, or the first fault. Source: time.ParseDuration. */
function readDuration(text: string): bigint | string {
  const of = (): string => `duration ${timeQuote(text)}`
  const parts = text.replace(/^[+-]/, "")
  if (parts === "0") return 0n
  // A run of digits matches in only one way, so the time is linear in its length.
  const part = /(\d*)(?:\.(\d*))?([^\d.]*)/y
  let sum = 0n
  do {
    const [, written = "", fraction = "", unit = ""] = part.exec(parts) ?? []
    const whole = written.replace(/^0+/, "")
    const isNumber = written + fraction !== "" && whole.length <= maxDigits && BigInt(whole) <= most
    if (!isNumber) return `time: invalid ${of()}`
    if (unit === "") return `time: missing unit in ${of()}`
    const size = units[unit]
    if (size === undefined) return `time: unknown unit ${timeQuote(unit)} in ${of()}`
    sum += BigInt(whole) * size + fractionOf(fraction.slice(0, maxFractionDigits), size)
    if (sum > most) return `time: invalid ${of()}`
  } while (part.lastIndex < parts.length)
  if (text.startsWith("-")) return -sum
  return sum === most ? `time: invalid ${of()}` : sum
}

/** With the precision of a double, as Go. */
function fractionOf(digits: string, size: bigint): bigint {
  return digits === "" ? 0n : BigInt(Math.trunc(Number(digits) * (Number(size) / 10 ** digits.length)))
}

/** So many seconds as a time.Duration, which has 64 bits of nanoseconds: beyond 292 years it is another one, or negative. */
export function goSeconds(seconds: number | bigint): number {
  const nanoseconds = BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n)
  return Number(nanoseconds / 1_000_000n)
}
