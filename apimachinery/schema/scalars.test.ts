import { expect, test } from "vitest"
import { canonicalScalar, millisecondsOf } from "./scalars.ts"

const layout = JSON.stringify("2006-01-02T15:04:05Z07:00")

test.each([
  ["2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"],
  ["2020-01-01T1:02:03Z", "2020-01-01T01:02:03Z"],
  ["2020-01-01T00:00:00,5Z", "2020-01-01T00:00:00Z"],
  ["2020-01-01T00:00:00+24:60", "2019-12-30T23:00:00Z"],
  ["0000-02-29T00:00:00Z", "0000-02-29T00:00:00Z"],
  ["0000-01-01T00:00:00+01:00", "-0001-12-31T23:00:00Z"],
  ["9999-12-31T23:59:59-01:00", "10000-01-01T00:59:59Z"],
])("the time %s is %s", (text, expected) => {
  expect(canonicalScalar("time", text)).toBe(expected)
  // Also of the years that have no four digits.
  expect(Number.isFinite(millisecondsOf(expected))).toBe(true)
})

test("times of all years are in their order", () => {
  const times = ["-0001-12-31T23:00:00Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "10000-01-01T00:59:59Z"]
  expect(times.map(millisecondsOf)).toEqual([
    -62_167_222_800_000, -62_167_219_200_000, 253_402_300_799_000, 253_402_304_399_000,
  ])
  expect(millisecondsOf("none")).toBeNaN()
})

test.each([
  ["2020-01-01T00:00:00+25:00", ": time zone offset hour out of range"],
  ["2020-01-01T00:00:00+24:61", ": time zone offset minute out of range"],
  ["2020-02-30T00:00:00Z", ": day out of range"],
  ["2020-01-01T1:2:00Z", ` as ${layout}: cannot parse "2:00Z" as "04"`],
])("the time %s is rejected", (text, detail) => {
  expect(() => canonicalScalar("time", text)).toThrow(`parsing time ${JSON.stringify(text)}${detail}`)
})
