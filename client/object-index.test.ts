import { expect, test } from "vitest"
import type { KubeObject } from "../apimachinery/object.ts"
import { ObjectIndex } from "./object-index.ts"

const object = (namespace: string, name: string, label: string): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace, name, labels: { label } },
})

const byLabel = { label: ({ metadata }: KubeObject) => Object.values(metadata.labels ?? {}) }

test("an index that has nothing answers nothing, and knows its indexes", () => {
  const objects = new ObjectIndex(byLabel)
  expect([objects.size, objects.list(), objects.list("a"), objects.get("a", "b")]).toEqual([0, [], [], undefined])
  expect(objects.byIndex("label", "x")).toEqual([])
  expect(() => objects.byIndex("other", "x")).toThrow('no index "other"')
  expect(objects.delete("a", "b")).toBeUndefined()
})

test("two that were empty do not share what comes", () => {
  const one = new ObjectIndex(byLabel)
  const other = new ObjectIndex(byLabel)
  const first = object("a", "b", "x")
  one.set(first)
  expect(one.byIndex("label", "x")).toEqual([first])
  expect([other.size, other.list(), other.byIndex("label", "x")]).toEqual([0, [], []])
})

test("an object is found under what it says now", () => {
  const objects = new ObjectIndex(byLabel)
  objects.set(object("a", "b", "x"))
  const changed = object("a", "b", "y")
  expect(objects.set(changed)).toEqual(object("a", "b", "x"))
  expect(objects.byIndex("label", "x")).toEqual([])
  expect(objects.byIndex("label", "y")).toEqual([changed])
  expect(objects.delete("a", "b")).toBe(changed)
  expect([objects.size, objects.list(), objects.byIndex("label", "y")]).toEqual([0, [], []])
})
