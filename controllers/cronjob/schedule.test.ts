import { describe, expect, test } from "vitest"
import { pick, createRandom, type Random, seeds } from "../../apimachinery/testing/random.ts"
import { parseSchedule, type Schedule } from "./schedule.ts"

const iso = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : new Date(ms).toISOString())
const next = (text: string, after: string, zone?: string): string | undefined =>
  iso(parseSchedule(text, zone).next(Date.parse(after)))

describe("parseSchedule()", () => {
  test.each([
    ["* * * * *", "2026-01-01T00:00:30Z", "2026-01-01T00:01:00.000Z"],
    ["*/15 * * * *", "2026-01-01T00:15:00Z", "2026-01-01T00:30:00.000Z"],
    ["5 4 * * *", "2026-01-01T04:05:00Z", "2026-01-02T04:05:00.000Z"],
    ["0 0 31 * *", "2026-02-01T00:00:00Z", "2026-03-31T00:00:00.000Z"],
    ["0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00.000Z"],
    ["0 22 * * 1-5", "2026-01-02T22:00:00Z", "2026-01-05T22:00:00.000Z"],
    ["0 0 13 * fri", "2026-02-13T00:00:00Z", "2026-02-20T00:00:00.000Z"],
    ["23 0-20/2 * * *", "2026-01-01T20:23:00Z", "2026-01-02T00:23:00.000Z"],
    ["0 12 * jan,JUL sun", "2026-01-26T00:00:00Z", "2026-07-05T12:00:00.000Z"],
    // A step is a restriction, so either field may match.
    ["0 0 */10 * mon", "2026-01-01T00:00:00Z", "2026-01-05T00:00:00.000Z"],
    ["0 0 */1 * mon", "2026-01-01T00:00:00Z", "2026-01-05T00:00:00.000Z"],
    ["@hourly", "2026-01-01T00:59:59Z", "2026-01-01T01:00:00.000Z"],
    ["@monthly", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00.000Z"],
    ["@yearly", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00.000Z"],
    ["@every 1h30m", "2026-01-01T00:00:00Z", "2026-01-01T01:30:00.000Z"],
    ["TZ=Europe/Berlin 0 9 * * *", "2026-01-01T00:00:00Z", "2026-01-01T08:00:00.000Z"],
    ["0 0 30 2 *", "2026-01-01T00:00:00Z", undefined],
    [", * * * *", "2026-01-01T00:00:00Z", undefined],
    ["* * , * ,", "2026-01-01T00:00:00Z", undefined],
  ])("%s after %s is at %s", (text, after, expected) => {
    expect(next(text, after)).toBe(expected)
  })

  test("follows daylight saving time", () => {
    expect(next("0 9 * * *", "2026-03-28T12:00:00Z", "Europe/Berlin")).toBe("2026-03-29T07:00:00.000Z")
    expect(next("0 9 * * *", "2026-01-10T12:00:00Z", "Europe/Berlin")).toBe("2026-01-11T08:00:00.000Z")
    expect(next("0 0 1 * *", "2026-10-20T00:00:00Z", "America/New_York")).toBe("2026-11-01T04:00:00.000Z")
  })

  test("rejects unknown time zones", () => {
    expect(() => parseSchedule("* * * * *", "Mars/Base")).toThrow("unknown time zone Mars/Base")
  })
})

/** Zones some of whose clocks change between these days, by an hour or half an hour, at night or at midnight. */
const zones: readonly [string, string][] = [
  ["UTC", "2026-02-27"],
  ["America/New_York", "2026-03-07"],
  ["America/New_York", "2026-10-31"],
  ["Australia/Lord_Howe", "2026-04-04"],
  ["America/Santiago", "2026-09-05"],
  ["Africa/Casablanca", "2026-02-14"],
  ["Asia/Kathmandu", "2026-12-30"],
]
const minuteMs = 60_000
const fewDays = 3 * 24 * 60

function randomField(random: Random, min: number, max: number): string {
  const [a, b] = [min + random(max - min + 1), min + random(max - min + 1)].sort((x, y) => x - y)
  return pick(random, ["*", "*", `${a}`, `${a},${b}`, `${a}-${b}`, `*/${1 + random(max)}`])
}

/** The definition itself: every minute is checked. */
function matches(fields: readonly string[], format: Intl.DateTimeFormat, at: number): boolean {
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0 } = parts
  const holds = (field: string, value: number, min: number): boolean =>
    field.split(",").some((part) => {
      const [range = "", step] = part.split("/")
      const [first = 0, last = first] = range === "*" ? [min, 99] : range.split("-").map(Number)
      return value >= first && value <= last && (value - first) % Number(step ?? 1) === 0
    })
  const [m = "", h = "", d = "", mon = "", w = ""] = fields
  const weekday = new Date(Date.UTC(year, month - 1, day)).getUTCDay()
  const days = [holds(d, day, 1), holds(w, weekday, 0)]
  const isAny = [d, w].some((field) => field === "*" || field === "*/1")
  const isDay = isAny ? days.every(Boolean) : days.some(Boolean)
  return holds(m, minute, 0) && holds(h, hour, 0) && holds(mon, month, 1) && isDay
}

test.each(seeds(60))("a schedule's times are exactly the matching minutes: SEED=%i", (seed) => {
  const random = createRandom(seed)
  const [timeZone, day] = pick(random, zones)
  const ranges = [[0, 59], [0, 23], [1, 31], [1, 12], [0, 6]] as const // prettier-ignore
  const fields = ranges.map(([min, max]) => randomField(random, min, max))
  const numeric = { month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" } as const
  const format = new Intl.DateTimeFormat("en-US", { timeZone, hourCycle: "h23", year: "numeric", ...numeric })
  const begin = Date.parse(`${day}T00:00:00Z`) + random(24 * 60) * minuteMs
  const minutes = Array.from({ length: fewDays }, (_, index) => begin + (index + 1) * minuteMs)
  const expected = minutes.filter((at) => matches(fields, format, at))
  const schedule = parseSchedule(fields.join(" "), timeZone)
  const end = begin + fewDays * minuteMs
  expect(timesOf(schedule, begin, end)).toEqual(expected)
  expect(schedule.last(begin, end)).toBe(expected.at(-1))
})

function timesOf(schedule: Schedule, after: number, end: number): number[] {
  const times: number[] = []
  for (let at = schedule.next(after); at !== undefined && at <= end; at = schedule.next(at)) times.push(at)
  return times
}

test.each([1, 90, 3600])("@every %i seconds has its last time a whole number of steps after the first", (seconds) => {
  const schedule = parseSchedule(`@every ${seconds}s`)
  for (const [after, now] of [
    [500, 700],
    [500, 90_000],
    [1500, 7_200_400],
  ] as const) {
    expect(schedule.last(after, now)).toBe(timesOf(schedule, after, now).at(-1))
  }
})
