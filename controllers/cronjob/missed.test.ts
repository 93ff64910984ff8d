import { describe, expect, test } from "vitest"
import { missedSince, nextTimeMs } from "./missed.ts"
import { parseSchedule } from "./schedule.ts"

const at = (text: string): number => Date.parse(text)

describe("missedSince()", () => {
  test.each([
    ["0 * * * *", "2026-01-01T00:10:00Z", "2026-01-01T00:30:00Z", undefined, false],
    ["0 * * * *", "2026-01-01T00:10:00Z", "2026-01-01T01:30:00Z", "2026-01-01T01:00:00Z", false],
    ["0 * * * *", "2026-01-01T00:10:00Z", "2026-01-01T05:30:00Z", "2026-01-01T05:00:00Z", false],
    ["0 * * * *", "2026-01-01T00:10:00Z", "2026-02-01T05:30:00Z", "2026-02-01T05:00:00Z", true],
    ["30 6-16/4 * * 1-5", "2026-01-02T00:00:00Z", "2026-01-05T06:45:00Z", "2026-01-05T06:30:00Z", false],
    ["* * * * *", "2020-01-01T00:00:30Z", "2026-01-05T06:45:20Z", "2026-01-05T06:45:00Z", true],
    ["@every 5m", "2026-01-01T00:01:30Z", "2026-01-01T00:18:00Z", "2026-01-01T00:16:30Z", false],
  ])("of %s since %s at %s is %s", (schedule, since, now, latest, isMany) => {
    const found = missedSince(parseSchedule(schedule), at(since), at(now))
    expect(found).toEqual({ latest: latest === undefined ? undefined : at(latest), isMany })
  })
})

describe("nextTimeMs()", () => {
  test.each([
    ["0 * * * *", "2026-01-01T00:10:00Z", "2026-01-01T00:30:00Z", 30 * 60_000],
    ["0 * * * *", "2026-01-01T00:10:00Z", "2026-01-01T05:30:00Z", 30 * 60_000],
    ["@every 5m", "2026-01-01T00:01:30Z", "2026-01-01T00:18:00Z", 3.5 * 60_000],
  ])("of %s since %s at %s", (schedule, since, now, ms) => {
    expect(nextTimeMs(parseSchedule(schedule), at(since), at(now))).toBe(ms + 100)
  })
})
