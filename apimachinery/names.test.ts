import { describe, expect, test } from "vitest"
import {
  generateName,
  validateDNS1035Label,
  validateDNS1123Label,
  validateDNS1123Subdomain,
  validateObjectMeta,
  validateObjectMetaUpdate,
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
])("%o takes %j: %s", (rule, text, valid) => {
  expect(rule(text).length === 0).toBe(valid)
})

test("says what a label must be in upstream's words", () => {
  expect(validateDNS1123Label("a.b")).toEqual(["must not contain dots"])
  expect(validateDNS1123Label("A")).toEqual([
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
  ])
})

describe("generateName()", () => {
  test("adds five characters and keeps names within 63", () => {
    expect(generateName("web-")).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    expect(generateName("x".repeat(100))).toHaveLength(63)
  })
})

describe("validateObjectMeta()", () => {
  const rules = { namespaced: true, nameRule: validateDNS1123Subdomain }
  const meta = { name: "a", namespace: "b" }
  test.each([
    [{}, []],
    [{ name: "" }, ["metadata.name: Required value: name or generateName is required"]],
    [{ namespace: "" }, ["metadata.namespace: Required value"]],
    [{ generateName: "ok-" }, []],
    [
      { finalizers: ["foo"] },
      [
        'metadata.finalizers[0]: Invalid value: "foo": name is neither a standard finalizer name nor is it fully qualified',
      ],
    ],
    [
      { ownerReferences: [{ apiVersion: "", kind: "", name: "x", uid: "" }] },
      [
        'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
        'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
        'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
      ],
    ],
    [
      { ownerReferences: [{ apiVersion: "v1", kind: "Event", name: "n", uid: "u" }] },
      [
        'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"n","uid":"u"}: /v1, Kind=Event is disallowed from being an owner',
      ],
    ],
  ])("of %j says %j", (changes, messages) => {
    expect(validateObjectMeta({ ...meta, ...changes }, rules).map((error) => error.message())).toEqual(messages)
  })

  test("accepts any qualified finalizer on custom resources", () => {
    expect(validateObjectMeta({ ...meta, finalizers: ["foo"] }, { ...rules, standardFinalizers: false })).toEqual([])
  })
})

describe("validateObjectMetaUpdate()", () => {
  test("refuses other names and finalizers added while being deleted", () => {
    const current = { name: "a", uid: "1", deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["a/b"] }
    const errors = validateObjectMetaUpdate({ ...current, name: "b", finalizers: ["a/b", "a/d", "a/c"] }, current)
    expect(errors.map((error) => error.message())).toEqual([
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a/c", "a/d"}',
      'metadata.name: Invalid value: "b": field is immutable',
    ])
  })
})
