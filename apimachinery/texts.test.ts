import { expect, test } from "vitest"
import { after, between, trim, trimRight } from "./texts.ts"

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
