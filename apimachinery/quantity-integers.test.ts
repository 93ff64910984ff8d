import { expect, test } from "vitest"
import { int64Units, isWholeInt64 } from "./quantity-integers.ts"
import { parseQuantity } from "./quantity.ts"

test.each([
  ["5", 5n],
  ["1500m", 2n],
  ["-1500m", -2n],
  ["9223372036854775807", 9223372036854775807n],
  ["9223372036854775808", -9223372036854775808n],
  ["-9223372036854775808", 0n],
  ["-9223372036854775809", -1n],
  ["123456789012345678901234567890", -4362896299872285998n],
  ["10E", 0n],
  ["7Ei", 8070450532247928832n],
])("%s is converted to %s", (text, value) => {
  expect(int64Units(parseQuantity(text))).toBe(value)
})

test.each([
  ["1", true],
  ["1500m", false],
  ["1Ti", true],
  ["1e30", true],
  ["7Ei", false],
  ["123456789012345678901234567890", false],
])("%s is an integer: %s", (text, whole) => {
  expect(isWholeInt64(text)).toBe(whole)
})
