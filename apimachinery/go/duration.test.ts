import { expect, test } from "vitest"
import { durationFault, goSeconds, parseGoDuration } from "./duration.ts"

test.each([
  ["34s", 34_000],
  ["1h2m3.5s", 3_723_500],
  ["100ms", 100],
  ["-5s", -5000],
  ["0", 0],
  [".5s", 500],
  ["1μs", 0.001],
  ["+0", 0],
  ["9223372036854775808ns", undefined],
  ["abc", undefined],
  ["5", undefined],
  ["", undefined],
  ["s", undefined],
])("%s is %s ms", (text, expected) => {
  expect(parseGoDuration(text)).toBe(expected)
})

test.each([
  ["1", 'time: missing unit in duration "1"'],
  ["1h2", 'time: missing unit in duration "1h2"'],
  ["1x", 'time: unknown unit "x" in duration "1x"'],
  ["1h2sx", 'time: unknown unit "sx" in duration "1h2sx"'],
  ["x", 'time: invalid duration "x"'],
  ["", 'time: invalid duration ""'],
  ["1µ\n", String.raw`time: unknown unit "\xc2\xb5\x0a" in duration "1\xc2\xb5\x0a"`],
  ["99999999999999999999", 'time: invalid duration "99999999999999999999"'],
  ["9223372036854775809x", 'time: invalid duration "9223372036854775809x"'],
  ["300000000h1x", 'time: invalid duration "300000000h1x"'],
  ["1\x7f", 'time: unknown unit "\x7f" in duration "1\x7f"'],
  ["\udcff", String.raw`time: invalid duration "\xff"`],
  ["1s", ""],
  ['"\\', String.raw`time: invalid duration "\"\\"`],
])("durationFault() of %j", (text, fault) => {
  expect(durationFault(text)).toBe(fault)
})

test("parsing a very long duration takes linear time", () => {
  const digits = "1".repeat(1_000_000)
  expect([parseGoDuration(digits), parseGoDuration(`${digits}x`)]).toEqual([undefined, undefined])
  expect(durationFault(`${digits}x`)).toContain("invalid duration")
})

test.each([
  [0, 0],
  [30, 30_000],
  [9_223_372_036, 9_223_372_036_000],
  [9_223_372_037, -9_223_372_036_709],
  [9_999_999_999, -8_446_744_074_709],
  [18_446_744_074, 290],
  [2n ** 63n - 1n, -1000],
])("goSeconds(%s) is %s ms", (seconds, expected) => {
  expect(goSeconds(seconds)).toBe(expected)
})
