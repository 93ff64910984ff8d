// Parsing, printing and parts of timestamps and durations. Source: Go's time package (RFC 3339, durations like 1h30m),
// cel-go/common/types.

import { goNanoseconds } from "../../go/duration.ts"
import { goQuote } from "../../go/quote.ts"
import { dictionary } from "../../dictionary.ts"
import { remember } from "../../remember.ts"
import { TimeZone } from "../../time-zone.ts"
import { timestamp } from "./arithmetic.ts"
import { CelError, Duration, Timestamp, type Value } from "../values.ts"

const nanosPerMilli = 1_000_000n
const nanosPerSecond = 1_000_000_000n

export function parseDuration(text: string): Value | undefined {
  const nanos = goNanoseconds(text)
  return nanos === undefined ? undefined : new Duration(nanos)
}

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/

export function parseTimestamp(text: string): Value | undefined {
  const match = text.length > 100 ? null : rfc3339.exec(text)
  if (match === null) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number)
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || second > 59) {
    return undefined
  }
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second)
  const [offsetHours, offsetMinutes] = [Number(match[9] ?? 0), Number(match[10] ?? 0)]
  if (offsetHours > 24 || offsetMinutes > 60) return undefined
  const offset = (offsetHours * 60 + offsetMinutes) * (match[8] === "-" ? -1 : 1)
  const east = BigInt(offset * 60) * nanosPerSecond
  const fraction = BigInt((match[7] ?? "").slice(0, 9).padEnd(9, "0"))
  const value = timestamp(BigInt(date.getTime()) * nanosPerMilli + fraction - east, offset)
  return value instanceof CelError ? undefined : value
}

function daysIn(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
}

function split(nanos: bigint): { millis: number; nanos: number } {
  let millis = nanos / nanosPerMilli
  let rest = nanos % nanosPerMilli
  if (rest < 0n) {
    millis--
    rest += nanosPerMilli
  }
  return { millis: Number(millis), nanos: Number(rest) }
}

export function printTimestamp({ nanos, offset }: Timestamp): string {
  const { millis, nanos: rest } = split(nanos + BigInt(offset * 60) * nanosPerSecond)
  const date = new Date(millis)
  const fraction = `${String(date.getUTCMilliseconds()).padStart(3, "0")}${String(rest).padStart(6, "0")}`.replace(
    /(?<!0)0+$/,
    "",
  )
  const [seconds = ""] = date.toISOString().split(".")
  const [hours, minutes] = [Math.trunc(Math.abs(offset) / 60), Math.abs(offset) % 60].map((part) =>
    String(part).padStart(2, "0"),
  )
  const zone = offset === 0 ? "Z" : `${offset < 0 ? "-" : "+"}${hours}:${minutes}`
  return `${seconds}${fraction === "" ? "" : `.${fraction}`}${zone}`
}

/** Nanoseconds as seconds, with the precision of a double and the necessary digits. */
export function printSeconds(nanos: bigint): string {
  const seconds = Number(nanos / nanosPerSecond) + Number(nanos % nanosPerSecond) / 1e9
  // JavaScript prints smaller ones with an exponent.
  if (nanos === 0n || Math.abs(seconds) >= 1e-6) return String(seconds)
  return `${nanos < 0n ? "-" : ""}0.000000${String(Math.abs(Number(nanos)))
    .padStart(3, "0")
    .replace(/(?<!0)0+$/, "")}`
}

/** The local date in a zone, which is a name or an offset. */
function localDate(value: Timestamp, zone: string): Date | CelError {
  const date = new Date(split(value.nanos).millis)
  if (zone === "UTC" || zone === "") return date
  const [hours = "", ...rest] = zone.split(":")
  if (rest.length > 0) {
    const minutes = rest.join(":")
    const wrong = [hours, minutes].find((part) => !/^[+-]?\d{1,6}$/.test(part))
    if (wrong !== undefined) return new CelError(`strconv.Atoi: parsing ${goQuote(wrong)}: invalid syntax`)
    const offset = Number(hours) * 60 + (zone.startsWith("-") ? -Number(minutes) : Number(minutes))
    return new Date(date.getTime() + offset * 60_000)
  }
  if (/^[/\\]|\.\./.test(zone)) return new CelError("time: invalid location name")
  return zoneNamed(zone)?.local(date.getTime()) ?? new CelError(`unknown time zone ${zone}`)
}

/** By name, the most recently used ones: each takes some 30 KiB, and there are hundreds. */
const zones = new Map<string, TimeZone>()
const maxZones = 100

function zoneNamed(name: string): TimeZone | undefined {
  const zone = zones.get(name) ?? TimeZone.named(name)
  return zone && remember(zones, name, zone, maxZones)
}

const dateParts: Readonly<Record<string, (date: Date) => number>> = dictionary({
  getDate: (date) => date.getUTCDate(),
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDayOfWeek: (date) => date.getUTCDay(),
  getDayOfYear: (date) => {
    const start = new Date(date)
    start.setUTCMonth(0, 1)
    return Math.round((date.getTime() - start.getTime()) / 86_400_000)
  },
  getFullYear: (date) => date.getUTCFullYear(),
  getHours: (date) => date.getUTCHours(),
  getMilliseconds: (date) => date.getUTCMilliseconds(),
  getMinutes: (date) => date.getUTCMinutes(),
  getMonth: (date) => date.getUTCMonth(),
  getSeconds: (date) => date.getUTCSeconds(),
})

const durationParts: Readonly<Record<string, bigint>> = dictionary({
  getHours: 3600n * nanosPerSecond,
  getMilliseconds: nanosPerMilli,
  getMinutes: 60n * nanosPerSecond,
  getSeconds: nanosPerSecond,
})

export const timeFunctions: Readonly<Record<string, (args: readonly Value[]) => Value | undefined>> =
  Object.fromEntries(
    Object.entries(dateParts).map(([name, part]) => [
      name,
      ([value, zone]: readonly Value[]): Value | undefined => {
        if (value instanceof Duration) {
          const unit = durationParts[name]
          return unit === undefined || zone !== undefined ? undefined : value.nanos / unit
        }
        if (!(value instanceof Timestamp) || (zone !== undefined && typeof zone !== "string")) return undefined
        const date = localDate(value, zone ?? "UTC")
        return date instanceof CelError ? date : BigInt(part(date))
      },
    ]),
  )
