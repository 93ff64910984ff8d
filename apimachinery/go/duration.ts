// Durations as Go writes them ("1h2m3.5s"). Pure.

import { dictionary } from "../dictionary.ts"
import { bytesOfText } from "./text.ts"

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
/** More of a fraction have no effect. */
const maxFractionDigits = 18

/** 292 years: a duration is 64 bits of nanoseconds. */
export const longestMs = 2 ** 63 / 1e6

/** Returns undefined if the text is not a duration. */
export function parseGoDuration(text: string): number | undefined {
  const nanoseconds = goNanoseconds(text)
  return nanoseconds === undefined ? undefined : Number(nanoseconds) / 1e6
}

/** Returns undefined if the text is not a duration. Source: time.ParseDuration. */
export function goNanoseconds(text: string): bigint | undefined {
  const isNegative = text.startsWith("-")
  const parts = /^[+-]/.test(text) ? text.slice(1) : text
  if (parts === "0") return 0n
  // A run of digits matches in only one way, so the time is linear in its length.
  const part = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y
  let sum = 0n
  do {
    const [, written = "", fraction = "", unit = ""] = part.exec(parts) ?? []
    const whole = written.replace(/^0+/, "")
    if (written + fraction === "" || whole.length > maxDigits) return undefined
    const size = units[unit] ?? 0n
    sum += BigInt(whole === "" ? "0" : whole) * size + fractionOf(fraction.slice(0, maxFractionDigits), size)
    if (sum > 2n ** 63n) return undefined
  } while (part.lastIndex < parts.length)
  if (isNegative) return -sum
  return sum === 2n ** 63n ? undefined : sum
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

/** Go's error for an invalid duration. Source: time.ParseDuration. */
export function durationFault(text: string): string {
  const rest = text.replace(/^[+-]/, "").replace(/^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h)(?![^\d.]))*/, "")
  const [, unit] = /^(?:\d+(?:\.\d*)?|\.\d+)([^\d.]*)/.exec(rest) ?? []
  const of = `duration ${quoted(text)}`
  if (unit === undefined) return `time: invalid ${of}`
  return unit === "" ? `time: missing unit in ${of}` : `time: unknown unit ${quoted(unit)} in ${of}`
}

/** Go's package time has a shorter form of quoting: everything but ASCII is escaped byte by byte. */
function quoted(text: string): string {
  const escape = (characters: string): string =>
    characters === '"' || characters === "\\"
      ? `\\${characters}`
      : bytesOfText(characters).toString("hex").replace(/../g, "\\x$&")
  return `"${text.replace(/["\\]|[^ -~]+/gu, escape)}"`
}
