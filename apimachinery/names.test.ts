import { describe, expect, test } from "vitest"
import {
  generateName,
  validateDNS1035Label,
  validateDNS1123Label,
  validateDNS1123Subdomain,
  validateQualifiedName,
} from "./names.ts"

test.each([
  [validateDNS1123Label, "a-1", true],
  [validateDNS1123Label, "a.b", false],
  [validateDNS1123Label, "a".repeat(64), false],
  [validateDNS1123Subdomain, "a.b-c.1", true],
  [validateDNS1123Subdomain, "A", false],
  [validateDNS1123Subdomain, "", false],
  [validateDNS1035Label, "1a", false],
  [validateDNS1035Label, "a1", true],
  [validateQualifiedName, "example.com/My_Name.1", true],
  [validateQualifiedName, "/a", false],
  [validateQualifiedName, "a/", false],
])("%o accepts %j: %s", (rule, text, valid) => {
  expect(rule(text).length === 0).toBe(valid)
})

test("has upstream's messages for labels", () => {
  expect(validateDNS1123Label("a.b")).toEqual(["must not contain dots"])
  expect(validateDNS1123Label("A")).toEqual([
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
  ])
})

describe("generateName()", () => {
  test("adds five characters within the limit of 63", () => {
    expect(generateName("web-")).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    expect(generateName("x".repeat(100))).toHaveLength(63)
    expect(generateName("é".repeat(100))).toMatch(/^é{29}[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    expect(generateName(`a${"é".repeat(100)}`)).toMatch(/^aé{28}[bcdfghjklmnpqrstvwxz2456789]{5}$/)
  })
})
