import { describe, expect, test } from "vitest"
import { formatValue } from "./format-values.ts"
import { CelError, Duration, Timestamp } from "./values.ts"

const newYear = 1_577_836_800_000_000_000n

describe("formatValue()", () => {
  test.each([
    ["2020-01-01", "date", newYear],
    ["2020-01-01T02:00:00+02:00", "date-time", newYear],
    ["2020-01-01T00:00:00.25", "date-time", newYear + 250_000_000n],
    ["", "date-time", 0n],
  ])("%o as %s is a time", (text, format, nanos) => {
    const value = formatValue(text, format)
    expect(value instanceof Timestamp && value.nanos).toBe(nanos)
  })

  test.each([
    ["1h30m", 5400n],
    ["2 Days and 3 hours", 183_600n],
    ["3 months, 5 secs", 5n],
  ])("%o is a duration", (text, seconds) => {
    const value = formatValue(text, "duration")
    expect(value instanceof Duration && value.nanos).toBe(seconds * 1_000_000_000n)
  })

  test("bytes are in the alphabet of URLs", () => {
    expect(formatValue("-_-_", "byte")).toEqual(Buffer.from("+/+/", "base64"))
  })

  test.each([
    ["2020-13-01", "date", 'parsing time "2020-13-01": month out of range'],
    ["2020-02-30", "date", 'parsing time "2020-02-30": day out of range'],
    ["+/+/", "byte", "illegal base64 data at input byte 0"],
    ["3 months", "duration", "unable to parse 3 months as duration"],
  ])("%o as %s is a fault", (text, format, fault) => {
    const value = formatValue(text, format)
    expect(value instanceof CelError && value.message).toMatch(new RegExp(`${fault.replaceAll("+", "\\+")}$`))
  })

  test("other texts are texts", () => {
    expect(formatValue("a", "email")).toBe("a")
  })
})
