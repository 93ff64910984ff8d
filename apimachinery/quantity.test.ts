import { describe, expect, test } from "vitest"
import {
  addQuantities,
  compareQuantities,
  isQuantity,
  milliValue,
  parseQuantity,
  printQuantity,
  subtractQuantities,
  unitValue,
} from "./quantity.ts"

describe("printQuantity(parseQuantity())", () => {
  // kube-apiserver 1.36's responses.
  test.each([
    ["0", "0"],
    ["0Ki", "0"],
    ["1.5Ki", "1536"],
    ["0.5Gi", "512Mi"],
    ["00.5Gi", "512Mi"],
    ["2.5Mi", "2560Ki"],
    ["0.5Ki", "512"],
    ["1.1Ki", "1126400m"],
    ["1000", "1k"],
    ["1024", "1024"],
    ["1536", "1536"],
    ["1000k", "1M"],
    ["1024Ki", "1Mi"],
    ["1023Ki", "1023Ki"],
    ["1000Mi", "1000Mi"],
    ["8Ei", "9223372036854775807"],
    ["0.1", "100m"],
    [".5", "500m"],
    ["1000m", "1"],
    ["1500m", "1500m"],
    ["1e3", "1e3"],
    ["1E3", "1E3"],
    ["12e2", "1200"],
    ["1.5e3", "1500"],
    ["1e30", "1e30"],
    ["1E", "1E"],
    ["100E", "100E"],
    ["9223372036854775808", "9223372036854775808"],
    ["+1", "+1"],
    ["-1", "-1"],
    ["5.", "5."],
    ["0.1n", "1n"],
    ["123456789.123456789123", "123456789123456790n"],
  ])("prints %s as %s", (text, printed) => {
    expect(printQuantity(parseQuantity(text))).toBe(printed)
  })
})

test.each(["", "e", ".", "1e", "1ee", "1Kii", "1 Mi", "abc", "--1", "0x10", "1ki", "9".repeat(500), "1e999999"])(
  "refuses %j",
  (text) => {
    expect(isQuantity(text)).toBe(false)
    expect(() => parseQuantity(text)).toThrow(RangeError)
  },
)

test("is exact where floating-point numbers are not", () => {
  const sum = addQuantities(parseQuantity("100m"), parseQuantity("200m"))
  expect(printQuantity(sum)).toBe("300m")
  expect(compareQuantities(sum, parseQuantity("0.3"))).toBe(0)
  expect(printQuantity(subtractQuantities(parseQuantity("1Gi"), parseQuantity("1Mi")))).toBe("1023Mi")
})

test("rounds up to thousandths and units", () => {
  expect(milliValue(parseQuantity("1.5"))).toBe(1500)
  expect(milliValue(parseQuantity("1u"))).toBe(1)
  expect(unitValue(parseQuantity("1Ki"))).toBe(1024)
  expect(unitValue(parseQuantity("100m"))).toBe(1)
})
