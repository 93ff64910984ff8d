// The times of cron schedules (apimachinery/cron.ts) in a time zone. Pure.

import { type CronFields, parseCron } from "../../apimachinery/cron.ts"
import { TimeZone } from "../../apimachinery/time-zone.ts"

export interface Schedule {
  /** The first time after `after` (ms), a whole minute; undefined if there is none within five years. */
  next(after: number): number | undefined
  /** The last time after `after` that is not after `now`, or undefined. */
  last(after: number, now: number): number | undefined
}

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const clockChangeMs = 2 * 60 * minuteMs
const searchYears = 5

/** Throws an error with upstream's message if the text is not a schedule, or the zone is unknown. */
export function parseSchedule(text: string, timeZone = "UTC"): Schedule {
  // A time zone in the text is also accepted; validation rejects it for new objects.
  const { times, zone = zoneNamed(timeZone) } = parseCron(text)
  if (typeof times === "number") return everySchedule(times)
  const next = (after: number): number | undefined => search(times, zone, after)
  return { next, last: (after, now) => lastOf(next, after, now) }
}

function zoneNamed(name: string): TimeZone {
  const zone = TimeZone.named(name)
  if (zone === undefined) throw new Error(`unknown time zone ${name}`)
  return zone
}

function everySchedule(step: number): Schedule {
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

/** RFC 3339 with the zone's offset at that time. */
export function localTimestamp(at: number, timeZone: string): string {
  const local = zoneNamed(timeZone).local(at)
  const minutes = Math.round((local.getTime() - Math.floor(at / 1000) * 1000) / minuteMs)
  const text = local.toISOString().slice(0, 19)
  if (minutes === 0) return `${text}Z`
  const pad = (value: number): string => String(value).padStart(2, "0")
  const size = Math.abs(minutes)
  return `${text}${minutes < 0 ? "-" : "+"}${pad(Math.floor(size / 60))}:${pad(size % 60)}`
}

/** Skips days, hours and minutes that cannot match; never skips a match. */
function search(fields: CronFields, zone: TimeZone, after: number): number | undefined {
  if (fields.hour.size === 0 || fields.minute.size === 0) return undefined // "," is a field without values
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
function daysUntilMatch(fields: CronFields, local: Date): number | undefined {
  const date = new Date(local)
  for (let days = 1; days <= searchYears * 366; days++) {
    date.setUTCDate(date.getUTCDate() + 1)
    if (matchesDay(fields, date)) return days
  }
  return undefined
}

function matchesDay({ month, day, weekday, anyDay, anyWeekday }: CronFields, local: Date): boolean {
  if (!month.has(local.getUTCMonth() + 1)) return false
  const isDay = day.has(local.getUTCDate())
  const isWeekday = weekday.has(local.getUTCDay())
  return anyDay || anyWeekday ? isDay && isWeekday : isDay || isWeekday
}
