import { describe, expect, test } from "vitest"
import { parseUrl, urlFault } from "./url.ts"

describe("urlFault()", () => {
  test.each([
    ["https://example.com/a", undefined],
    ["//example.com", undefined],
    ["", undefined],
    ["a/b:c", undefined],
    ["a:b:c", undefined],
    ["1a:b/c", 'parse "1a:b/c": first path segment in URL cannot contain colon'],
    ["://a", 'parse "://a": missing protocol scheme'],
    ["a\u0000b", 'parse "a\\x00b": net/url: invalid control character in URL'],
    ["https://a b", 'parse "https://a b": invalid character " " in host name'],
    ["https://a:b", 'parse "https://a:b": invalid port ":b" after host'],
    ["https://a:1:2", 'parse "https://a:1:2": invalid port ":1:2" after host'],
    ["ftp://a:1:2", undefined],
    ["https://a%41", 'parse "https://a%41": invalid URL escape "%41"'],
    ["https://a/%4", 'parse "https://a/%4": invalid URL escape "%4"'],
    ["https://a#%zz", 'parse "https://a#%zz": invalid URL escape "%zz"'],
    ["https://a b#c", 'parse "https://a b": invalid character " " in host name'],
  ])("of %j as a reference returns %j", (text, fault) => {
    expect(urlFault(text, "reference")).toBe(fault)
  })

  test.each([
    ["", 'parse "": empty url'],
    ["a", 'parse "a": invalid URI for request'],
    ["/a#b", undefined],
    ["//a b", undefined],
  ])("of %j as a request returns %j", (text, fault) => {
    expect(urlFault(text, "request")).toBe(fault)
  })
})

describe("parseUrl()", () => {
  test("returns the parts of a URL", () => {
    expect(parseUrl("HTTPS://u@example.com:1/a?b#c", "reference")).toEqual({
      scheme: "https",
      user: "u",
      host: "example.com:1",
      path: "/a",
      query: "b",
      fragment: "c",
    })
  })
})
