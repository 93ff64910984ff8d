import { expect, test } from "vitest"
import { collectGarbage } from "./testing/garbage.ts"
import { after, beginningOf, between, toLower, trim, trimRight, trimSpace } from "./texts.ts"

test.each([
  ["a//", "/", "a"],
  ["//", "/", ""],
  ["a/b", "/", "a/b"],
  ["", "/", ""],
  ["a \n ", " \n", "a"],
])("trimRight(%j, %j) returns %j", (text, cutset, expected) => {
  expect(trimRight(text, cutset)).toBe(expected)
})

test.each([
  [" a b ", " ", "a b"],
  ["   ", " ", ""],
  ["a", " ", "a"],
])("trim(%j, %j) returns %j", (text, cutset, expected) => {
  expect(trim(text, cutset)).toBe(expected)
})

test.each([
  ["AbC", "abc"],
  ["ΟΔΟΣ", "οδοσ"],
  ["İ", "i"],
  ["ẞǅ", "ßǆ"],
])("toLower(%j) returns %j", (text, expected) => {
  expect(toLower(text)).toBe(expected)
})

test.each([
  ["a <b> c> d", "<", ">", "b> c"],
  ["a <> c", "<", ">", ""],
  ["a <b", "<", ">", undefined],
  ["a> b", "<", ">", undefined],
  ["> <", "<", ">", undefined],
])("of %j, the text between %j and %j is %j", (text, start, end, expected) => {
  expect(between(text, start, end)).toBe(expected)
})

test.each([
  ["x in v as y: z: w", [" in ", " as ", ": "], "z: w"],
  ["x as y in v: z", [" in ", " as ", ": "], "x as y in v: z"],
])("of %j, the text after %j is %j", (text, parts, expected) => {
  expect(after(text, parts)).toBe(expected)
})

test.each([
  ["", 3, ""],
  ["abc", 3, "abc"],
  ["abcd", 3, "abc"],
  ["a😀b", 2, "a\ud83d"],
])("beginningOf(%j, %d) returns %j", (text, characters, expected) => {
  expect(beginningOf(text, characters)).toBe(expected)
})

test("the beginning of a text does not retain the rest", () => {
  const megabytes = 1_000_000
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  const kept = Array.from({ length: 50 }, (_, index) => beginningOf(`${index} ${"x".repeat(megabytes)} end`, 100))
  collectGarbage()
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(10 * megabytes)
  expect(kept.map((text) => text.length)).toEqual(Array.from({ length: 50 }, () => 100))
})

test("white space around a text is that of Go", () => {
  expect(trimSpace(" \t\u0085a b\u00a0\n\u3000")).toBe("a b")
  expect(trimSpace("\ufeffa\u200b")).toBe("\ufeffa\u200b")
  expect(trimSpace(" \u0085 ")).toBe("")
})
