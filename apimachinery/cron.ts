// Parses cron schedules: five fields with names, steps and ranges, macros, intervals, and a time zone. The syntax and the errors are
// those of the parser that upstream uses, github.com/robfig/cron/v3 in its standard form, with upstream's recovery from its panics.

import { dictionary } from "./dictionary.ts"
import { durationFault, parseGoDuration } from "./go/duration.ts"
import { goQuote } from "./go/quote.ts"
import { fieldsOf, trimSpace } from "./texts.ts"
import { TimeZone } from "./time-zone.ts"

export interface CronFields {
  minute: ReadonlySet<number>
  hour: ReadonlySet<number>
  day: ReadonlySet<number>
  month: ReadonlySet<number>
  /** 0 is Sunday. */
  weekday: ReadonlySet<number>
  /** If both day and weekday are restricted, either may match. "*" is not a restriction. */
  anyDay: boolean
  anyWeekday: boolean
}

interface CronSchedule {
  /** The time zone in the text. */
  zone: TimeZone | undefined
  /** The times, or the interval between them in milliseconds. */
  times: CronFields | number
}

/** The text is not a schedule. */
export class CronFault extends Error {
  override readonly name = "CronFault"
}

interface Bounds {
  low: number
  high: number
  names?: readonly string[]
}

const minutes: Bounds = { low: 0, high: 59 }
const hours: Bounds = { low: 0, high: 23 }
const days: Bounds = { low: 1, high: 31 }
const months: Bounds = {
  low: 1,
  high: 12,
  names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
}
const weekdays: Bounds = { low: 0, high: 6, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] }
const macros: Readonly<Record<string, string>> = dictionary({
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
})
const every = "@every "

/** Throws CronFault. */
export function parseCron(text: string): CronSchedule {
  if (text === "") throw new CronFault("empty spec string")
  if (!/^(?:CRON_)?TZ=/.test(text)) return { zone: undefined, times: parseTimes(text) }
  const start = text.indexOf("=") + 1
  const end = text.indexOf(" ")
  if (end < 0) throw new CronFault("invalid schedule format: runtime error: slice bounds out of range [:-1]")
  return { zone: parseZone(text.slice(start, end)), times: parseTimes(trimSpace(text.slice(end))) }
}

function parseZone(name: string): TimeZone | undefined {
  if (name === "") return undefined // UTC
  const zone = TimeZone.named(name)
  if (zone === undefined) throw new CronFault(`provided bad location ${name}: unknown time zone ${name}`)
  return zone
}

function parseTimes(text: string): CronFields | number {
  const macro = macros[text]
  if (macro !== undefined) return parseFields(macro)
  if (text.startsWith(every)) return parseInterval(text)
  if (text.startsWith("@")) throw new CronFault(`unrecognized descriptor: ${text}`)
  return parseFields(text)
}

/** Whole seconds, at least one. */
function parseInterval(text: string): number {
  const duration = text.slice(every.length)
  const ms = parseGoDuration(duration)
  if (ms === undefined) throw new CronFault(`failed to parse duration ${text}: ${durationFault(duration)}`)
  return Math.max(1000, Math.floor(ms / 1000) * 1000)
}

function parseFields(text: string): CronFields {
  const fields = fieldsOf(text)
  if (fields.length !== 5)
    throw new CronFault(`expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`)
  const minute = parseField(fields[0] ?? "", minutes)
  const hour = parseField(fields[1] ?? "", hours)
  const day = parseField(fields[2] ?? "", days)
  const month = parseField(fields[3] ?? "", months)
  const weekday = parseField(fields[4] ?? "", weekdays)
  return {
    minute: minute.values,
    hour: hour.values,
    day: day.values,
    month: month.values,
    weekday: weekday.values,
    anyDay: day.isAny,
    anyWeekday: weekday.isAny,
  }
}

interface Field {
  values: Set<number>
  isAny: boolean
}

function parseField(text: string, bounds: Bounds): Field {
  const field: Field = { values: new Set(), isAny: false }
  // Without repetitions there are few ranges, however long the text is. Empty ones have no effect.
  for (const range of new Set(text.split(","))) if (range !== "") addRange(field, range, bounds)
  return field
}

function addRange(field: Field, text: string, bounds: Bounds): void {
  const [range = "", stepText, ...moreSteps] = text.split("/")
  const [from = "", to, ...moreEnds] = range.split("-")
  const isAny = from === "*" || from === "?"
  const first = isAny ? BigInt(bounds.low) : parseNumber(from, bounds)
  // Whatever follows "*-" is ignored.
  let last = isAny ? BigInt(bounds.high) : first
  if (!isAny && to !== undefined) {
    if (moreEnds.length > 0) throw new CronFault(`too many hyphens: ${text}`)
    last = parseNumber(to, bounds)
  }
  if (moreSteps.length > 0) throw new CronFault(`too many slashes: ${text}`)
  const step = stepText === undefined ? 1n : parseInteger(stepText)
  if (stepText !== undefined && to === undefined) last = BigInt(bounds.high)
  const { low, high } = bounds
  if (first < low) throw new CronFault(`beginning of range (${first}) below minimum (${low}): ${text}`)
  if (last > high) throw new CronFault(`end of range (${last}) above maximum (${high}): ${text}`)
  if (first > last) throw new CronFault(`beginning of range (${first}) beyond end of range (${last}): ${text}`)
  if (step === 0n) throw new CronFault(`step of range should be a positive number: ${text}`)
  if (isAny && step === 1n) field.isAny = true
  for (let value = first; value <= last; value += step) field.values.add(Number(value))
}

function parseNumber(text: string, { low, names }: Bounds): bigint {
  const index = names?.indexOf(text.toLowerCase()) ?? -1
  return index < 0 ? parseInteger(text) : BigInt(index + low)
}

/** Go's Atoi, without negative numbers. */
function parseInteger(text: string): bigint {
  const fault = (why: string): CronFault =>
    new CronFault(`failed to parse int from ${text}: strconv.Atoi: parsing ${goQuote(text)}: ${why}`)
  if (!/^[+-]?\d+$/.test(text)) throw fault("invalid syntax")
  const value = text.length > 64 ? undefined : BigInt(text.replace(/^\+/, ""))
  if (value === undefined || BigInt.asIntN(64, value) !== value) throw fault("value out of range")
  if (value < 0n) throw new CronFault(`negative number (${value}) not allowed: ${text}`)
  return value
}
