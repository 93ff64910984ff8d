import { describe, expect, test } from "vitest"
import { parseInt64 } from "./integers.ts"

describe("an integer in a string", () => {
  test.each([
    ["0", 0n],
    ["+7", 7n],
    ["-007", -7n],
    [`${"0".repeat(1_000)}7`, 7n],
    ["9223372036854775807", 9223372036854775807n],
    ["-9223372036854775808", -9223372036854775808n],
  ])("%s", (text, value) => {
    expect(parseInt64(text)).toBe(value)
  })

  test.each([
    ["", "invalid syntax"],
    [" 1", "invalid syntax"],
    ["1.5", "invalid syntax"],
    ["1_000", "invalid syntax"],
    ["0x1", "invalid syntax"],
    ["9223372036854775808", "value out of range"],
    ["9223372036854775808x", "invalid syntax"],
    ["-18446744073709551615x", "invalid syntax"],
    ["18446744073709551616x", "value out of range"],
    ["9".repeat(1_000), "value out of range"],
  ])("is rejected: %s", (text, fault) => {
    expect(() => parseInt64(text)).toThrow(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${fault}`)
  })
})
