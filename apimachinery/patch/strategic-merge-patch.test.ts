import { describe, expect, test } from "vitest"
import { deepFreeze } from "../freeze.ts"
import type { Json } from "../object.ts"
import type { Schema } from "../schema/schema.ts"
import { applyStrategicMergePatch } from "./strategic-merge-patch.ts"

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
    expect(applyStrategicMergePatch(deepFreeze(target), structuredClone(patch), schema)).toEqual(expected)
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
    [
      { items: [{ name: "a" }] },
      { items: [{ name: "a", bogus: ["y"], "$setElementOrder/bogus": ["x"] }] },
      500,
      'unable to find api field in struct Item for the json field "bogus"',
    ],
    [
      { labels: {} },
      { labels: { "$setElementOrder/a": [] } },
      500,
      "merging an object in json but data type is not struct, instead is: map",
    ],
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
