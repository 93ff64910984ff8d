import { describe, expect, test } from "vitest"
import { parseSchedule } from "./schedule.ts"

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
    ["0 0 * * 7", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00.000Z"],
    ["@hourly", "2026-01-01T00:59:59Z", "2026-01-01T01:00:00.000Z"],
    ["@monthly", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00.000Z"],
    ["@yearly", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00.000Z"],
    ["@every 1h30m", "2026-01-01T00:00:00Z", "2026-01-01T01:30:00.000Z"],
    ["0 0 30 2 *", "2026-01-01T00:00:00Z", undefined],
  ])("%s after %s is at %s", (text, after, expected) => {
    expect(next(text, after)).toBe(expected)
  })

  test("follows the time zone through summer time", () => {
    expect(next("0 9 * * *", "2026-03-28T12:00:00Z", "Europe/Berlin")).toBe("2026-03-29T07:00:00.000Z")
    expect(next("0 9 * * *", "2026-01-10T12:00:00Z", "Europe/Berlin")).toBe("2026-01-11T08:00:00.000Z")
    expect(next("0 0 1 * *", "2026-10-20T00:00:00Z", "America/New_York")).toBe("2026-11-01T04:00:00.000Z")
  })

  test.each([
    ["* * * *", /expected exactly 5 fields/],
    ["60 * * * *", /out of range/],
    ["5-1 * * * *", /beyond end of range/],
    ["a * * * *", /failed to parse int from a/],
    ["*/0 * * * *", /positive number/],
    ["@every soon", /failed to parse duration/],
  ])("refuses %s", (text, message) => {
    expect(() => parseSchedule(text)).toThrow(message)
  })

  test("refuses unknown time zones", () => {
    expect(() => parseSchedule("* * * * *", "Mars/Base")).toThrow("unknown time zone Mars/Base")
  })
})
