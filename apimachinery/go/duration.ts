// Durations as Go writes them ("1h2m3.5s"), in milliseconds. Pure.

import { dictionary } from "../dictionary.ts"

const units: Readonly<Record<string, number>> = dictionary({
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
})

// A run of digits matches in only one way, so the time is linear in its length.

/** 292 years: a duration is 64 bits of nanoseconds. */
export const longestMs = 2 ** 63 / 1e6

/** Returns undefined if the text is not a duration. */
export function parseGoDuration(text: string): number | undefined {
  const match = /^([+-]?)((?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))+$/.exec(text)
  if (match === null) return text === "0" ? 0 : undefined
  let sum = 0
  for (const [, amount = "", unit = ""] of text
    .replace(/^[+-]/, "")
    .matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/gy))
    sum += Number(amount) * (units[unit] ?? 0)
  if (sum > longestMs) return undefined
  return match[1] === "-" ? -sum : sum
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
      : Buffer.from(characters).toString("hex").replace(/../g, "\\x$&")
  return `"${text.replace(/["\\]|[^ -~]+/gu, escape)}"`
}
