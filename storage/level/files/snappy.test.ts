import { expect, test } from "vitest"
import { uncompress } from "./snappy.ts"

const text = (...bytes: (number | string)[]): Buffer =>
  Buffer.concat(bytes.map((each) => (typeof each === "string" ? Buffer.from(each) : Buffer.from([each]))))
const long = "x".repeat(300)

test.each<[string, Buffer, string]>([
  ["nothing", text(0), ""],
  ["a literal", text(3, 2 << 2, "abc"), "abc"],
  ["a literal with its length in one byte", text(70, 60 << 2, 69, "a".repeat(70)), "a".repeat(70)],
  ["a literal with its length in two bytes", text(172, 2, 61 << 2, 43, 1, long), long],
  ["a copy with an offset in one byte and three bits", text(7, 2 << 2, "abc", 1, 3), "abcabca"],
  ["a copy with an offset in two bytes", text(6, 2 << 2, "abc", (2 << 2) | 2, 3, 0), "abcabc"],
  ["a copy with an offset in four bytes", text(5, 2 << 2, "abc", (1 << 2) | 3, 3, 0, 0, 0), "abcab"],
  ["a copy of what it writes itself", text(9, 0, "a", (7 << 2) | 2, 1, 0), "a".repeat(9)],
])("reads %s", (_what, data, expected) => {
  expect(uncompress(data).toString()).toBe(expected)
})

test.each<[string, Buffer]>([
  ["no length", text()],
  ["a literal that is cut", text(3, 2 << 2, "ab")],
  ["fewer bytes than announced", text(4, 2 << 2, "abc")],
  ["more bytes than announced", text(2, 2 << 2, "abc")],
  ["a copy of more bytes than announced", text(4, 2 << 2, "abc", 1, 3)],
  ["a copy from before the beginning", text(7, 2 << 2, "abc", 1, 4)],
  ["a copy of nothing", text(7, 2 << 2, "abc", 1, 0)],
])("refuses %s", (_what, data) => {
  expect(() => uncompress(data)).toThrow(RangeError)
})
