import { describe, expect, test } from "vitest"
import { compareKeys, lowerBound, prefixEnd, selectKeys } from "./key-order.ts"

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

describe("compareKeys()", () => {
  test("sorts by UTF-8 bytes, unlike JavaScript", () => {
    const keys = [
      "",
      "a",
      "a/",
      "a0",
      "ab",
      "é",
      "\ud7ff",
      "\ue000",
      "\uffee",
      "\u{10000}",
      "\u{1f600}",
      "\u{10ffff}",
      "a\u{1f600}",
    ]
    for (const a of keys) for (const b of keys) expect(Math.sign(compareKeys(a, b))).toBe(Math.sign(byBytes(a, b)))
    expect(compareKeys("\u{1f600}", "\uffee")).toBeGreaterThan(0)
  })
})

describe("prefixEnd()", () => {
  test.each([
    ["/a", "/b"],
    ["/a\u{10ffff}", "/b"],
    ["\ud7ff", "\ue000"],
    ["\uffff", "\u{10000}"],
    ["\u{10ffff}", undefined],
    ["", undefined],
  ])("%j ends before %j", (prefix, end) => {
    expect(prefixEnd(prefix)).toBe(end)
  })
})

describe("selectKeys()", () => {
  const keys = ["/a", "/a/1", "/a/2", "/b", "/b/1"]
  test.each([
    ["/a", undefined, ["/a", "/a/1", "/a/2"]],
    ["/a/", "/a/1", ["/a/2"]],
    ["/a/", "/0", ["/a/1", "/a/2"]],
    ["/a/", "/b", []],
    ["", "/a/2", ["/b", "/b/1"]],
  ])("%j after %j", (prefix, after, expected) => {
    expect(selectKeys(keys, prefix, after)).toEqual(expected)
  })

  test("lowerBound() returns the place of a missing key", () => {
    expect([lowerBound(keys, "/a/15"), lowerBound(keys, "/b"), lowerBound(keys, "/b", true)]).toEqual([2, 3, 4])
  })

  test("lowerBound() compares bytes, for keys of all characters", () => {
    const sorted = ["a", "b", "\ud7ff", "\ue000", "\uffee", "\u{10000}", "\u{1f600}"]
    for (const key of [...sorted, "ab", "\ue001", "\u{1f601}"]) {
      expect(lowerBound(sorted, key), key).toBe(sorted.filter((other) => byBytes(other, key) < 0).length)
      expect(lowerBound(sorted, key, true), key).toBe(sorted.filter((other) => byBytes(other, key) <= 0).length)
    }
  })
})
