import { describe, expect, test } from "vitest"
import { encodeQuery, parseQuery } from "./query.ts"

describe("parseQuery()", () => {
  test.each([
    ["a=1&b=%zz&c=%41", "a=1&c=A"],
    ["a=1;b=2&c=3", "c=3"],
    ["a=%", ""],
    ["a=x&a=y", "a=x&a=y"],
  ])("of %s returns %s and ignores invalid parts", (query, read) => {
    expect(parseQuery(query).toString()).toBe(read)
  })
})

test("encodeQuery() writes what Go does", () => {
  expect(encodeQuery(parseQuery("b=2&a=%7e(x)*&b=1&c&d=x%20y+z&%C3%A9=/"))).toBe(
    "a=~%28x%29%2A&b=2&b=1&c=&d=x+y+z&%C3%A9=%2F",
  )
})

test("parseQuery() keeps bytes that are no UTF-8", () => {
  const query = parseQuery("a=%ff&b=%E2%82&c=%C3%A4+%2B&a=x&%ff=1")
  expect(query.getAll("a")).toEqual(["\udcff", "x"])
  expect([query.get("b"), query.get("c"), query.get("d")]).toEqual(["\udce2\udc82", "ä +", null])
  expect(parseQuery("a=%EF%BF%BD").get("a")).toBe("\ufffd")
})
