import { expect, test } from "vitest"
import { parseGoDuration } from "./go-duration.ts"

test.each([
  ["34s", 34_000],
  ["1h2m3.5s", 3_723_500],
  ["100ms", 100],
  ["-5s", -5000],
  ["0", 0],
  [".5s", 500],
  ["abc", undefined],
  ["5", undefined],
  ["", undefined],
  ["s", undefined],
])("%s is %s ms", (text, expected) => {
  expect(parseGoDuration(text)).toBe(expected)
})
