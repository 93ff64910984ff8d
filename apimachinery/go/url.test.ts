import { describe, expect, test } from "vitest"
import { parseUrl, printUrl, urlFault } from "./url.ts"

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
    ["http://[fe80::1%25eth0]:80/", undefined],
    ["http://[fe80::1%25e%2f]", 'parse "http://[fe80::1%25e%2f]": invalid URL escape "%2f"'],
    ["http://[1.2.3.4]", 'parse "http://[1.2.3.4]": invalid IP-literal'],
    ["http://[]", 'parse "http://[]": invalid host: ParseAddr(""): unable to parse IP'],
    ["http://a/%é", 'parse "http://a/%é": invalid URL escape "%é"'],
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
    expect(parseUrl("HTTPS://u@example.com:1/a?b#c", "reference")).toMatchObject({
      scheme: "https",
      user: "u",
      host: "example.com:1",
      path: "/a",
      query: "b",
      fragment: "c",
    })
  })
})

test.each([
  ["HTTP://u%41:p@ü/b c?d#e f", "http://uA:p@%C3%BC/b%20c?d#e%20f"],
  ["http://[fe80::1%25e%20t]/", "http://[fe80::1%25e%20t]/"],
  ["a:b?", "a:b?"],
  ["a:/b", "a:/b"],
  ["a:///b", "a:///b"],
  ["http://a/%2F/[b]", "http://a/%2F/[b]"],
])("printUrl() of %j", (text, printed) => {
  expect(printUrl(parseUrl(text, "reference"))).toBe(printed)
})
