import { expect, test } from "vitest"
import type { KubeObject, OwnerReference } from "../../apimachinery/object.ts"
import type { DiscoveredResource } from "../../client/rest.ts"
import { Budget } from "./budget.ts"
import { reduced } from "./metadata.ts"

const resource = {
  group: "g",
  version: "v1",
  resource: "r",
  namespaced: true,
  kind: "R",
  verbs: [],
} as DiscoveredResource
const owner = { apiVersion: "v1", kind: "ConfigMap", name: "a", uid: "1" }
const object = (uid: string, ownerReferences?: OwnerReference[]): KubeObject => ({
  apiVersion: "",
  kind: "",
  metadata: { name: uid, uid, ...(ownerReferences === undefined ? {} : { ownerReferences }) },
})

test("only as many objects with owners are kept as there is room for", () => {
  const budget = new Budget()
  const taken = Array.from({ length: 10_001 }, (_, index) => budget.takes(resource, object(`${index}`, [owner])))
  expect(taken.filter(Boolean)).toHaveLength(10_000)
  expect(budget.takes(resource, object("without"))).toBe(true)
  expect(budget.takes(resource, object("0", [owner]))).toBe(true)
  budget.release(resource, object("0"))
  expect([budget.takes(resource, object("x", [owner])), budget.takes(resource, object("y", [owner]))]).toEqual([
    true,
    false,
  ])
  budget.clear(resource)
  expect(budget.takes(resource, object("y", [owner]))).toBe(true)
})

test("long owners take more of the room", () => {
  const budget = new Budget()
  const long = [{ ...owner, name: "x".repeat(1024 * 1024) }]
  expect(["a", "b", "c", "d"].map((uid) => budget.takes(resource, object(uid, long)))).toEqual([
    true,
    true,
    true,
    false,
  ])
})

test.each<[string, unknown, object | undefined]>([
  ["nothing", undefined, undefined],
  ["no metadata", {}, undefined],
  ["no name", { metadata: { uid: "1" } }, undefined],
  ["a name that is none", { metadata: { name: {}, uid: "1" } }, undefined],
  ["what nobody needs", { metadata: { name: "a", uid: "1", labels: { a: "b" } }, spec: 1 }, { name: "a", uid: "1" }],
  [
    "owners that are none",
    { metadata: { name: "a", uid: "1", ownerReferences: [5, null, { uid: "2" }, { ...owner, more: "x" }] } },
    { name: "a", uid: "1", ownerReferences: [owner] },
  ],
  ["a text instead of owners", { metadata: { name: "a", uid: "1", ownerReferences: "abc" } }, { name: "a", uid: "1" }],
  [
    "finalizers of others",
    { metadata: { name: "a", uid: "1", finalizers: ["orphan", "example.com/x", 5] } },
    { name: "a", uid: "1", finalizers: ["orphan"] },
  ],
])("of an object is kept what matters: %s", (_, whole, metadata) => {
  expect(reduced(whole, ["orphan"])?.metadata).toEqual(metadata)
})
