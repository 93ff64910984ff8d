import { describe, expect, test } from "vitest"
import { validateDNS1123Subdomain } from "./names.ts"
import { validateObjectMeta, validateObjectMetaUpdate } from "./object-meta.ts"

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
      { ownerReferences: [{ apiVersion: "a/b/c", kind: "Event", name: "n", uid: "u" }] },
      ['metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty'],
    ],
    [
      { ownerReferences: [{ apiVersion: "v1", kind: "Event", name: "n", uid: "u" }] },
      [
        'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"n","uid":"u"}: /v1, Kind=Event is disallowed from being an owner',
      ],
    ],
  ])("of %j returns %j", (changes, messages) => {
    expect(validateObjectMeta({ ...meta, ...changes }, rules).map((error) => error.message())).toEqual(messages)
  })

  test("accepts any qualified finalizer on custom resources", () => {
    expect(validateObjectMeta({ ...meta, finalizers: ["foo"] }, { ...rules, standardFinalizers: false })).toEqual([])
  })
})

describe("validateObjectMetaUpdate()", () => {
  test("rejects another name, and finalizers added during deletion", () => {
    const current = { name: "a", uid: "1", deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["a/b"] }
    const errors = validateObjectMetaUpdate({ ...current, name: "b", finalizers: ["a/b", "a/d", "a/c"] }, current)
    expect(errors.map((error) => error.message())).toEqual([
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a/c", "a/d"}',
      'metadata.name: Invalid value: "b": field is immutable',
    ])
  })
})
