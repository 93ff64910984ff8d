import { describe, expect, test } from "vitest"
import { parseMediaType } from "./media-type.ts"

describe("parseMediaType()", () => {
  test.each([
    ["application/json", "application/json"],
    [" Application/JSON ; charset=utf-8", "application/json"],
    ["form-data", "form-data"],
    ["a/b;", "a/b"],
    ["a/b; ", "a/b"],
    ['a/b; c="d;e\\"f" ; g = h;', "a/b"],
    ['a/b; c="d\\e"; c="d\\e"', "a/b"],
    ['a/b; c=d; C="d"', "a/b"],
    ['a/b; c=""', "a/b"],
  ])("reads %j", (text, type) => {
    expect(parseMediaType(text)).toEqual({ type })
  })

  test.each([
    ["", "no media type"],
    [";a=b", "no media type"],
    ["/json", "no media type"],
    ["a b", "expected slash after first token"],
    ["a/", "expected token after slash"],
    ["a/b/c", "unexpected content after media subtype"],
    ["a/b, a/c", "unexpected content after media subtype"],
    ["a/b; c", "invalid media parameter"],
    ["a/b; c=", "invalid media parameter"],
    ["a/b; c=d e", "invalid media parameter"],
    ['a/b; c="d', "invalid media parameter"],
    ["a/b;; c=d", "invalid media parameter"],
    ["a/b; c=d; c=e", "duplicate parameter name"],
  ])("finds the fault of %j", (text, fault) => {
    expect(parseMediaType(text)).toEqual({ fault: `mime: ${fault}` })
  })
})
