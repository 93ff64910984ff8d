import { describe, expect, test } from "vitest"
import type { Json } from "../object.ts"
import type { Schema } from "../schema/schema.ts"
import { readLenientOperations } from "./json-patch-operations.ts"
import { applyJsonPatch, applyOperations, rejectionReason } from "./json-patch.ts"
import { applyMergePatch } from "./merge-patch.ts"
import { applyStrategicMergePatch } from "./strategic-merge-patch.ts"

/** Deeply frozen, so that a patch that modifies its input throws. */
function frozen<T extends Json>(value: T): T {
  if (typeof value === "object" && value !== null) {
    Object.values(value).forEach(frozen)
    Object.freeze(value)
  }
  return value
}

describe("applyJsonPatch()", () => {
  const object: Json = frozen({ data: { a: "b" }, list: ["x", "y"] })
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
    expect(applyJsonPatch(object, frozen(patch))).toEqual(expected)
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

describe("applyMergePatch()", () => {
  test.each<[Json, Json, Json]>([
    [{ a: { b: 1, c: 2 } }, { a: { b: null, d: 3 } }, { a: { c: 2, d: 3 } }],
    [{ a: [1] }, { a: [2] }, { a: [2] }],
    [{ a: 1 }, { a: { b: null } }, { a: {} }],
    [{ a: [1] }, { a: [null, { b: null, c: [{ d: null }] }] }, { a: [null, { c: [{}] }] }],
    [{}, { a: [{ b: null }] }, { a: [{}] }],
    [{ a: {} }, { a: [{ b: null }] }, { a: [{ b: null }] }],
  ])("%j with %j results in %j", (target, patch, expected) => {
    expect(applyMergePatch(frozen(target), frozen(patch))).toEqual(expected)
  })

  test.each<[Json, string]>([
    [null, "Invalid JSON Patch"],
    [[], "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"],
    [3, "error decoding patch: json: cannot unmarshal number into Go value of type map[string]interface {}"],
  ])("rejects %j", (patch, message) => {
    expect(() => applyMergePatch({}, patch)).toThrow(expect.objectContaining({ code: 400, message }))
  })
})

const text: Schema = { type: "string" }
const item: Schema = {
  type: "object",
  name: "io.test.Item",
  fields: { name: { schema: text }, value: { schema: text }, args: { schema: { type: "list", items: text } } },
}
const schema: Schema = {
  type: "object",
  fields: {
    items: { schema: { type: "list", items: item }, patchStrategy: ["merge"], patchMergeKey: "name" },
    keyless: { schema: { type: "list", items: item }, patchStrategy: ["merge"] },
    names: { schema: { type: "list", items: text }, patchStrategy: ["merge"] },
    plain: { schema: { type: "list", items: text } },
    labels: { schema: { type: "map", items: text } },
    strategy: {
      schema: {
        type: "object",
        fields: { type: { schema: text }, rolling: { schema: { type: "object", fields: {} } } },
      },
      patchStrategy: ["retainKeys"],
    },
    replaced: { schema: { type: "object", fields: { a: { schema: text } } }, patchStrategy: ["replace"] },
    owners: { schema: { type: "list", items: item, patchStrategy: ["merge"], patchMergeKey: "name" } },
  },
}
const named = (...names: string[]): Json => names.map((name) => ({ name }))

describe("applyStrategicMergePatch()", () => {
  test.each<[string, Json, Json, Json]>([
    [
      "merges items by key and puts the patch's first",
      { items: [{ name: "a", value: "1" }, { name: "b" }] },
      { items: [{ name: "b", value: "2" }, { name: "c" }] },
      { items: [{ name: "a", value: "1" }, { name: "b", value: "2" }, { name: "c" }] },
    ],
    [
      "reads strategy and key from the list's type too",
      { owners: named("a") },
      { owners: named("b") },
      { owners: named("b", "a") },
    ],
    [
      "deletes an item",
      { items: named("a", "b") },
      { items: [{ $patch: "delete", name: "a" }] },
      { items: named("b") },
    ],
    [
      "replaces a list",
      { items: named("a", "b") },
      { items: [{ $patch: "replace" }, { name: "c" }] },
      { items: named("c") },
    ],
    [
      "keeps a replacing list's own order",
      { items: named("a", "b") },
      { items: [{ name: "c" }, { name: "b" }, { name: "a" }, { $patch: "replace" }] },
      { items: named("c", "b", "a") },
    ],
    ["replaces a list without a strategy", { plain: ["a"] }, { plain: ["b"] }, { plain: ["b"] }],
    ["joins primitives", { names: ["a", "b"] }, { names: ["b", "c"] }, { names: ["a", "b", "c"] }],
    ["deletes primitives", { names: ["a", "b"] }, { "$deleteFromPrimitiveList/names": ["a"] }, { names: ["b"] }],
    ["ignores a deletion from a missing list", {}, { "$deleteFromPrimitiveList/names": ["a"] }, {}],
    [
      "orders without changing",
      { items: named("a", "b", "c") },
      { "$setElementOrder/items": named("c", "a") },
      { items: named("b", "c", "a") },
    ],
    [
      "orders merged items",
      { items: named("a", "b") },
      { "$setElementOrder/items": named("c", "b", "a"), items: named("c") },
      { items: named("c", "b", "a") },
    ],
    [
      "keeps the position of items that only the server has",
      { items: named("server", "a", "b") },
      { "$setElementOrder/items": named("b", "a"), items: [{ name: "b", value: "1" }] },
      { items: [{ name: "server" }, { name: "b", value: "1" }, { name: "a" }] },
    ],
    ["orders primitives", { names: ["a", "b"] }, { "$setElementOrder/names": ["b", "a"] }, { names: ["b", "a"] }],
    [
      "keeps only the keys to retain",
      { strategy: { type: "Rolling", rolling: {} } },
      { strategy: { $retainKeys: ["type"], type: "Recreate" } },
      { strategy: { type: "Recreate" } },
    ],
    [
      "replaces an object by directive",
      { labels: { a: "1" } },
      { labels: { $patch: "replace", b: "2" } },
      { labels: { b: "2" } },
    ],
    ["empties an object by directive", { labels: { a: "1" } }, { labels: { $patch: "delete" } }, { labels: {} }],
    ["replaces an object by strategy", { replaced: { a: "1" } }, { replaced: { b: "2" } }, { replaced: { b: "2" } }],
    ["removes by null", { labels: { a: "1", b: "2" } }, { labels: { a: null } }, { labels: { b: "2" } }],
    [
      "drops nulls and directives of new fields",
      {},
      { labels: { a: null, b: "1" }, items: [{ $patch: "delete", name: "x" }] },
      { labels: { b: "1" }, items: [] },
    ],
    [
      "adds a new item of a list unchanged",
      { items: [{ name: "a" }] },
      { items: [{ name: null, value: null, $retainKeys: ["value"] }] },
      { items: [{ name: null, value: null, $retainKeys: ["value"] }, { name: "a" }] },
    ],
    ["changes nothing for null", { labels: { a: "1" } }, null, { labels: { a: "1" } }],
    [
      "merges with the first of two items with the same key",
      {
        items: [
          { name: "a", value: "1" },
          { name: "a", value: "2" },
        ],
      },
      { items: [{ name: "a", args: ["x"] }] },
      {
        items: [
          { name: "a", value: "1", args: ["x"] },
          { name: "a", value: "2" },
        ],
      },
    ],
  ])("%s", (_, target, patch, expected) => {
    expect(applyStrategicMergePatch(frozen(target), structuredClone(patch), schema)).toEqual(expected)
  })

  // kube-apiserver 1.36's codes and messages.
  test.each<[Json, Json, number, string]>([
    [{}, 3, 400, "json: cannot unmarshal number into Go value of type map[string]interface {}"],
    [{}, { $patch: "foo" }, 500, "unknown patch type: foo in map: map[$patch:foo]"],
    [{}, { $patch: null }, 500, "unknown patch type: %!s(<nil>) in map: map[$patch:<nil>]"],
    [
      { items: [] },
      { items: [{ $patch: "replace" }, {}] },
      500,
      "map: map[] does not contain declared merge key: name",
    ],
    [
      { items: [] },
      { items: [{ name: "a" }], "$setElementOrder/items": [null] },
      500,
      "expected a map[string]interface {}, but received a %!s(<nil>)",
    ],
    [{}, { $patch: "merge" }, 500, "unknown patch type: merge in map: map[$patch:merge]"],
    [
      {},
      { "$setElementOrder/names": ["x"], names: ["a/y"] },
      500,
      "The order in patch list:\n[a/y]\n doesn't match $setElementOrder list:\n[x]\n",
    ],
    [{}, { "$setElementOrder/names": "x" }, 500, "expected a []interface {}, but received a string"],
    [{ items: [] }, { items: [], "$setElementOrder/items": [] }, 500, "no elements in any of the given slices"],
    [{ strategy: {} }, { strategy: { $retainKeys: "x" } }, 400, "invalid patch format of retainKeys"],
    [{ strategy: {} }, { strategy: { $retainKeys: ["a"], b: "1" } }, 400, "invalid patch format of retainKeys"],
    [{ items: [] }, { items: [{ value: "1" }] }, 500, "map: map[value:1] does not contain declared merge key: name"],
    [{ items: [] }, { items: [[]] }, 422, "the server rejected our request due to an error in our request"],
    [{ keyless: [] }, { keyless: [{}] }, 500, "cannot merge lists without merge key for struct"],
    [
      { keyless: [] },
      { "$deleteFromPrimitiveList/keyless": [{}] },
      500,
      "cannot merge lists without merge key for struct",
    ],
  ])("on %j rejects %j with %i", (target, patch, code, message) => {
    expect(() => applyStrategicMergePatch(target, patch, schema)).toThrow(expect.objectContaining({ code, message }))
  })
})
