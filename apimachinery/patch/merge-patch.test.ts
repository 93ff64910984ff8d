import { describe, expect, test } from "vitest"
import { deepFreeze } from "../freeze.ts"
import type { Json } from "../object.ts"
import { applyMergePatch } from "./merge-patch.ts"

describe("applyMergePatch()", () => {
  test.each<[Json, Json, Json]>([
    [{ a: { b: 1, c: 2 } }, { a: { b: null, d: 3 } }, { a: { c: 2, d: 3 } }],
    [{ a: [1] }, { a: [2] }, { a: [2] }],
    [{ a: 1 }, { a: { b: null } }, { a: {} }],
    [{ a: [1] }, { a: [null, { b: null, c: [{ d: null }] }] }, { a: [null, { c: [{}] }] }],
    [{}, { a: [{ b: null }] }, { a: [{}] }],
    [{ a: {} }, { a: [{ b: null }] }, { a: [{ b: null }] }],
  ])("%j with %j results in %j", (target, patch, expected) => {
    expect(applyMergePatch(deepFreeze(target), deepFreeze(patch))).toEqual(expected)
  })

  test.each<[Json, string]>([
    [null, "Invalid JSON Patch"],
    [[], "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"],
    [3, "error decoding patch: json: cannot unmarshal number into Go value of type map[string]interface {}"],
  ])("rejects %j", (patch, message) => {
    expect(() => applyMergePatch({}, patch)).toThrow(expect.objectContaining({ code: 400, message }))
  })
})
