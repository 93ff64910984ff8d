// Cron schedules: five fields, names, steps, ranges, macros, and a time zone. Pure. The syntax is that of
// github.com/robfig/cron/v3's standard parser, which upstream uses.

import { dictionary } from "../../apimachinery/dictionary.ts"

export interface Schedule {
  /** The first time after `after` (ms), a whole minute; undefined if there is none within five years. */
  next(after: number): number | undefined
  /** The last time after `after` that is not after `now`, or undefined. */
  last(after: number, now: number): number | undefined
}

interface Fields {
  minute: Set<number>
  hour: Set<number>
  day: Set<number>
  month: Set<number>
  weekday: Set<number>
  /** If both day and weekday are restricted, either may match. "*" is not a restriction. */
  anyDay: boolean
  anyWeekday: boolean
}

const macros: Readonly<Record<string, string>> = dictionary({
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
})
const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const clockChangeMs = 2 * 60 * minuteMs
const searchYears = 5

/** Throws an error with a message if the text is not a schedule or the zone is unknown. */
export function parseSchedule(text: string, timeZone = "UTC"): Schedule {
  // A time zone in the text is also accepted; validation rejects it for new objects.
  const zoned = /^(?:CRON_)?TZ=(\S+)\s+(\S.*)?$/.exec(text.trim())
  if (zoned !== null) return parseSchedule(zoned[2] ?? "", zoned[1] ?? "")
  const trimmed = text.trim()
  const every = /^@every\s+(\S.*)$/.exec(trimmed)
  if (every !== null) return everySchedule(parseDuration(every[1] ?? ""))
  const fields = parseFields(macros[trimmed] ?? trimmed)
  const zone = new Zone(timeZone)
  const next = (after: number): number | undefined => search(fields, zone, after)
  return { next, last: (after, now) => lastOf(next, after, now) }
}

function everySchedule(ms: number): Schedule {
  // Rounded to seconds, like robfig/cron.
  const step = Math.max(1000, Math.floor(ms / 1000) * 1000)
  const second = (at: number): number => Math.floor(at / 1000) * 1000
  return {
    next: (after) => second(after) + step,
    last(after, now) {
      const steps = Math.floor((now - second(after)) / step)
      return steps < 1 ? undefined : second(after) + steps * step
    },
  }
}

/**
 * The times do not depend on the start, so the last one is found by bisection: a month of minutes may lie in between, and any
 * client that may write a CronJob's status can set the start.
 */
function lastOf(next: Schedule["next"], after: number, now: number): number | undefined {
  const hasOne = (from: number): boolean => (next(from) ?? Infinity) <= now
  let [low, high] = [after, now]
  if (!hasOne(low)) return undefined
  for (let step = minuteMs; high - step > low; step *= 2) {
    if (hasOne(high - step)) low = high - step
    else high -= step
  }
  while (high - low > minuteMs) {
    const middle = (low + high) / 2
    if (hasOne(middle)) low = middle
    else high = middle
  }
  let last = next(low)
  for (let at = last; at !== undefined && at <= now; at = next(at)) last = at
  return last
}

function parseDuration(text: string): number {
  const units: Readonly<Record<string, number>> = dictionary({ h: 3_600_000, m: 60_000, s: 1000, ms: 1 })
  const parts = [...text.matchAll(/(?<!\d)(\d+(?:\.\d+)?)(ms|h|m|s)/g)]
  if (parts.map(([part]) => part).join("") !== text || parts.length === 0)
    throw new Error(`failed to parse duration @every ${text}`)
  return parts.reduce((sum, [, value, unit]) => sum + Number(value) * (units[unit ?? ""] ?? 0), 0)
}

function parseFields(text: string): Fields {
  const parts = text.split(/\s+/)
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = parts
  if (parts.length !== 5) throw new Error(`expected exactly 5 fields, found ${parts.length}: [${parts.join(" ")}]`)
  const isAny = (field: string): boolean => field.startsWith("*") || field.startsWith("?")
  const weekdaySet = parseField(weekday, 0, 7, weekdays)
  if (weekdaySet.delete(7)) weekdaySet.add(0)
  return {
    minute: parseField(minute, 0, 59),
    hour: parseField(hour, 0, 23),
    day: parseField(day, 1, 31),
    month: parseField(month, 1, 12, months),
    weekday: weekdaySet,
    anyDay: isAny(day),
    anyWeekday: isAny(weekday),
  }
}

function parseField(text: string, min: number, max: number, names?: readonly string[]): Set<number> {
  const values = new Set<number>()
  for (const part of text.split(",")) {
    const [range = "", step = "1", ...extra] = part.split("/")
    const [from = "", to, ...more] = range.split("-")
    if (extra.length > 0 || more.length > 0) throw new Error(`too many slashes or hyphens: ${part}`)
    const isAny = from === "*" || from === "?"
    const top = names === weekdays ? 6 : max
    const first = isAny ? min : parseNumber(from, min, names)
    const last = to !== undefined ? parseNumber(to, min, names) : isAny || part.includes("/") ? top : first
    const by = Number(step)
    if (!/^\d+$/.test(step) || by === 0) throw new Error(`step of range should be a positive number: ${part}`)
    if (first < min || last > max) throw new Error(`value out of range (${min} - ${max}): ${part}`)
    if (first > last) throw new Error(`beginning of range (${first}) beyond end of range (${last}): ${part}`)
    for (let value = first; value <= last; value += by) values.add(value)
  }
  return values
}

function parseNumber(text: string, min: number, names: readonly string[] | undefined): number {
  const named = names?.indexOf(text.toLowerCase()) ?? -1
  if (named >= 0) return named + (names === months ? min : 0)
  if (!/^\d+$/.test(text)) throw new Error(`failed to parse int from ${text}`)
  return Number(text)
}

/** Local times of a time zone. */
class Zone {
  readonly #format: Intl.DateTimeFormat

  constructor(name: string) {
    try {
      this.#format = new Intl.DateTimeFormat("en-US", {
        timeZone: name,
        hourCycle: "h23",
        year: "numeric",
        month: "numeric",
        day: "numeric",
        hour: "numeric",
        minute: "numeric",
        second: "numeric",
      })
    } catch (error) {
      throw new Error(`unknown time zone ${name}`, { cause: error })
    }
  }

  /** The local time as if it were UTC. */
  local(at: number): Date {
    const parts = Object.fromEntries(this.#format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
    return new Date(Date.UTC(year, month - 1, day, hour, minute, second))
  }
}

/** RFC 3339 with the zone's offset at that time. */
export function localTimestamp(at: number, timeZone: string): string {
  const local = new Zone(timeZone).local(at)
  const minutes = Math.round((local.getTime() - Math.floor(at / 1000) * 1000) / minuteMs)
  const text = local.toISOString().slice(0, 19)
  if (minutes === 0) return `${text}Z`
  const pad = (value: number): string => String(value).padStart(2, "0")
  const size = Math.abs(minutes)
  return `${text}${minutes < 0 ? "-" : "+"}${pad(Math.floor(size / 60))}:${pad(size % 60)}`
}

/** Skips days, hours and minutes that cannot match; never skips a match. */
function search(fields: Fields, zone: Zone, after: number): number | undefined {
  let at = Math.floor(after / minuteMs) * minuteMs + minuteMs
  const end = after + searchYears * 366 * dayMs
  while (at <= end) {
    const local = zone.local(at)
    const minute = local.getUTCMinutes()
    if (!matchesDay(fields, local)) {
      const days = daysUntilMatch(fields, local)
      if (days === undefined) return undefined
      // The clock may change in between, so the last steps to midnight are hours.
      const far = days * dayMs - (local.getTime() % dayMs) - clockChangeMs
      at += Math.max(far, (60 - minute) * minuteMs)
    } else if (!fields.hour.has(local.getUTCHours())) at += (60 - minute) * minuteMs
    else if (!fields.minute.has(minute)) at += minuteMs
    else return at
  }
  return undefined
}

/** Number of days from a local date that does not match to one that does; undefined if there is none for years. */
function daysUntilMatch(fields: Fields, local: Date): number | undefined {
  const date = new Date(local)
  for (let days = 1; days <= searchYears * 366; days++) {
    date.setUTCDate(date.getUTCDate() + 1)
    if (matchesDay(fields, date)) return days
  }
  return undefined
}

function matchesDay({ month, day, weekday, anyDay, anyWeekday }: Fields, local: Date): boolean {
  if (!month.has(local.getUTCMonth() + 1)) return false
  const isDay = day.has(local.getUTCDate())
  const isWeekday = weekday.has(local.getUTCDay())
  return anyDay || anyWeekday ? isDay && isWeekday : isDay || isWeekday
}
