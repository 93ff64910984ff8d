import { describe, expect, test } from "vitest"
import { deepFreeze } from "../freeze.ts"
import type { Json } from "../object.ts"
import { readLenientOperations } from "./json-patch-operations.ts"
import { applyJsonPatch, applyOperations, rejectionReason } from "./json-patch.ts"

test("a null that is a text equals no null, but what is empty", () => {
  const operation = { op: "test", path: "/a", from: "", value: null }
  const asText = { ...operation, isNullText: true } as const
  expect(applyOperations({}, [operation])).toEqual({})
  for (const other of [{}, { a: null }, { a: "" }, { a: [0] }, { a: { b: 1 } }])
    expect(() => applyOperations(other, [asText])).toThrow("rejected")
  for (const empty of [{ a: {} }, { a: [] }]) expect(applyOperations(empty, [asText])).toEqual(empty)
})

describe("applyJsonPatch()", () => {
  const object: Json = deepFreeze({ data: { a: "b" }, list: ["x", "y"] })
  // kube-apiserver 1.36's results.
  test.each<[Json, Json]>([
    [[{ op: "replace", path: "/data/zz", value: "q" }], { data: { a: "b", zz: "q" }, list: ["x", "y"] }],
    [[{ op: "add", path: "/data/z" }], { data: { a: "b", z: null }, list: ["x", "y"] }],
    [[{ op: "copy", from: "/data/zz", path: "/data/y" }], { data: { a: "b", y: null }, list: ["x", "y"] }],
    [[{ op: "move", from: "/data/a", path: "/data/y" }], { data: { y: "b" }, list: ["x", "y"] }],
    [[{ op: "test", path: "/data/zz", value: null }], object],
    [[{ op: "add", path: "/list/-1", value: "z" }], { data: { a: "b" }, list: ["x", "y", "z"] }],
    [[{ op: "add", path: "/list/-", value: "z" }], { data: { a: "b" }, list: ["x", "y", "z"] }],
    [[{ op: "add", path: "/list/0", value: "z" }], { data: { a: "b" }, list: ["z", "x", "y"] }],
    [[{ op: "remove", path: "/list/-1" }], { data: { a: "b" }, list: ["x"] }],
    [[{ op: "remove", path: `/list/${"0".repeat(20)}1` }], { data: { a: "b" }, list: ["x"] }],
    [[{ op: "add", path: "/data/x~1y", value: "q" }], { data: { a: "b", "x/y": "q" }, list: ["x", "y"] }],
    [[{ op: "add", path: "/data/constructor", value: "s" }], { data: { a: "b", constructor: "s" }, list: ["x", "y"] }],
    [
      [
        { op: "add", path: "/data/__proto__", value: { x: "y" } },
        { op: "add", path: "/data/__proto__/z", value: "s" },
      ],
      JSON.parse('{"data":{"a":"b","__proto__":{"x":"y","z":"s"}},"list":["x","y"]}'),
    ],
    [
      [
        { op: "add", path: "/data/__proto__", value: "s" },
        { op: "move", from: "/data/__proto__", path: "/data/y" },
      ],
      { data: { a: "b", y: "s" }, list: ["x", "y"] },
    ],
    [
      [
        { op: "replace", path: "", value: { b: [] } },
        { op: "add", path: "/b/-", value: 1 },
      ],
      { b: [1] },
    ],
    [[], object],
    [null, object],
  ])("applies %j", (patch, expected) => {
    expect(applyJsonPatch(object, deepFreeze(patch))).toEqual(expected)
  })

  const refused = "the server rejected our request due to an error in our request"
  test.each<[Json]>([
    [[{ op: "test", path: "/data/a", value: "x" }]],
    [[{ op: "remove", path: "/data/zz" }]],
    [[{ op: "add", path: "/nope/zz", value: "q" }]],
    [[{ op: "foo", path: "/data/zz", value: "q" }]],
    [[{ op: "copy", from: "/nope/zz", path: "/data/y" }]],
    [[{ op: "move", from: "/data/q", path: "/data/r" }]],
    [[{ op: "add", path: "", value: {} }]],
    [[{ op: "replace", path: "", value: 3 }]],
    [[{ op: "replace", path: "" }]],
    [[{ op: "remove", path: "" }]],
    [[{ path: "/data/zz" }]],
    [[{ op: "add", path: "/list/3", value: "a" }]],
    [[{ op: "remove", path: "/list/5" }]],
    [[{ op: "replace", path: "/list/x", value: "s" }]],
    [[{ op: "add", path: "/__proto__/polluted", value: "s" }]],
  ])("rejects %j with 422 and no detail", (patch) => {
    expect(() => applyJsonPatch(object, patch)).toThrow(
      expect.objectContaining({ code: 422, reason: "Invalid", message: refused }),
    )
  })

  const invalidIndex = "invalid index referenced"
  test.each<[{ [field: string]: Json }, string]>([
    [{ path: "/a" }, "Unexpected kind: unknown"],
    [{ op: "add" }, "add operation failed to decode path: missing value"],
    [{ op: "test" }, "test operation failed to decode path: operation missing path field: missing value"],
    [{ op: "copy", path: "/a" }, "copy operation failed to decode from: operation, missing from field: missing value"],
    [
      { op: "move", from: "/list/0" },
      "move operation failed to decode path: operation missing path field: missing value",
    ],
    [{ op: "add", path: "a" }, 'add operation does not apply: doc is missing path: "a": missing value'],
    [{ op: "add", path: "/list/9/a" }, 'add operation does not apply: doc is missing path: "/list/9/a": missing value'],
    [
      { op: "add", path: "/list/3" },
      `error in add for path: '/list/3': Unable to access invalid index: 3: ${invalidIndex}`,
    ],
    [
      { op: "add", path: "/list/x" },
      `error in add for path: '/list/x': value was not a proper array index: 'x': strconv.Atoi: parsing "x": invalid syntax`,
    ],
    [
      { op: "remove", path: "/list/-3" },
      `error in remove for path: '/list/-3': Unable to access invalid index: -3: ${invalidIndex}`,
    ],
    [
      { op: "remove", path: "/list/99999999999999999999" },
      `error in remove for path: '/list/99999999999999999999': strconv.Atoi: parsing "99999999999999999999": value out of range`,
    ],
    [
      { op: "remove", path: "/list/000000000000000000009" },
      `error in remove for path: '/list/000000000000000000009': Unable to access invalid index: 9: ${invalidIndex}`,
    ],
    [
      { op: "replace", path: "/list/2" },
      "replace operation does not apply: doc is missing key: /list/2: missing value",
    ],
    [{ op: "replace", path: "" }, "replace operation value must be object or array: %!w(<nil>)"],
    [
      { op: "test", path: "/list/2" },
      `error in test for path: '/list/2': Unable to access invalid index: 2: ${invalidIndex}`,
    ],
    [{ op: "test", path: "/data/a", value: "x" }, "testing value /data/a failed: test failed"],
    [
      { op: "copy", from: "/no/a", path: "/b" },
      "copy operation does not apply: doc is missing from path: /no/a: missing value",
    ],
    [
      { op: "copy", from: "/list/2", path: "/b" },
      `error in copy for from: '/list/2': Unable to access invalid index: 2: ${invalidIndex}`,
    ],
    [
      { op: "copy", from: "/list", path: "/no/b" },
      "copy operation does not apply: doc is missing destination path: /no/b: missing value",
    ],
    [
      { op: "copy", from: "/list", path: "/list/3" },
      `error while adding value during copy: Unable to access invalid index: 3: ${invalidIndex}`,
    ],
    [
      { op: "move", from: "/data/no", path: "/b" },
      "error in move for path: 'no': Unable to remove nonexistent key: no: missing value",
    ],
    [
      { op: "move", from: "/list/0", path: "/no/b" },
      "move operation does not apply: doc is missing destination path: /no/b: missing value",
    ],
    [
      { op: "move", from: "/data/a", path: "/list/5" },
      `error in move for path: '/list/5': Unable to access invalid index: 5: ${invalidIndex}`,
    ],
  ])("tells policies and webhooks why %j cannot be applied", (operation, reason) => {
    const attempt = (): string => {
      try {
        return JSON.stringify(applyJsonPatch(object, [operation]))
      } catch (error) {
        return rejectionReason(error as Error)
      }
    }
    expect(attempt()).toBe(reason)
  })

  test.each<[Json, string]>([
    [null, "Unexpected kind: unknown"],
    [{ op: 5, path: "/data/a" }, "Unexpected kind: unknown"],
    [{ op: "add", path: 5 }, "add operation failed to decode path: missing value"],
    [{ op: "remove", path: [] }, "remove operation failed to decode path: missing value"],
    [
      { op: "replace", path: true },
      "replace operation failed to decode path: json: cannot unmarshal bool into Go value of type string",
    ],
    [
      { op: "test", path: {} },
      "test operation failed to decode path: json: cannot unmarshal object into Go value of type string",
    ],
    [
      { op: "move", from: 5, path: "/data/b" },
      "move operation failed to decode from: json: cannot unmarshal number into Go value of type string",
    ],
    [
      { op: "move", from: "/data/a", path: 5 },
      "move operation failed to decode path: json: cannot unmarshal number into Go value of type string",
    ],
    [{ op: "copy", from: "/data/a", path: 5 }, "copy operation failed to decode path: missing value"],
    [{ op: "copy", from: null }, "copy operation failed to decode from: operation, missing from field: missing value"],
  ])("reads the fields of a webhook's operation only when it applies it: %j", (operation, reason) => {
    const attempt = (): void => void applyOperations(object, readLenientOperations([operation]))
    expect(attempt).toThrow(expect.objectContaining({ code: 422 }))
    try {
      attempt()
    } catch (error) {
      expect(rejectionReason(error as Error)).toBe(reason)
    }
  })

  test.each<[Json, string]>([
    [{}, "object into Go value of type jsonpatch.Patch"],
    ["x", "string into Go value of type jsonpatch.Patch"],
    [[5], "number into Go value of type jsonpatch.Operation"],
    [[[]], "array into Go value of type jsonpatch.Operation"],
  ])("takes %j of a webhook for no patch", (patch, what) => {
    expect(() => readLenientOperations(patch)).toThrow(`json: cannot unmarshal ${what}`)
  })

  test.each<[Json, number, string]>([
    [{ op: "add" }, 400, "cannot unmarshal object into Go value of type []handlers.jsonPatchOp"],
    ["x", 400, "cannot unmarshal string into Go value of type []handlers.jsonPatchOp"],
    [[1], 400, "cannot unmarshal number into Go value of type handlers.jsonPatchOp"],
    [[{ op: "add", path: 5 }], 400, "cannot unmarshal number into Go struct field jsonPatchOp.path of type string"],
  ])("rejects %j with %i", (patch, code, message) => {
    expect(() => applyJsonPatch(object, patch)).toThrow(
      expect.objectContaining({ code, message: `error decoding patch: json: ${message}` }),
    )
  })

  test("limits the number of operations and the size added by copies", () => {
    const many = Array.from({ length: 10_001 }, () => ({ op: "test", path: "/data/a", value: "b" }))
    expect(() => applyJsonPatch(object, many)).toThrow(
      "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
    )
    const doubling = Array.from({ length: 100 }, (_, i) => ({ op: "copy", from: "/data", path: `/data/${i}` }))
    expect(() => applyJsonPatch(object, doubling)).toThrow(refused)
  })
})
