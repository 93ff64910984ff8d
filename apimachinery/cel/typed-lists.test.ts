import { describe, expect, test } from "vitest"
import type { Json } from "../object.ts"
import type { JsonObject } from "../schema/json-object.ts"
import { areEqual } from "./compare.ts"
import { schemaValue } from "./schema-values.ts"
import { ArrayList, itemsOf, ListValue, type Value } from "./values.ts"

const text = { type: "string" }
const set = (items: JsonObject): JsonObject => ({ type: "array", "x-kubernetes-list-type": "set", items })
const map = (...keys: string[]): JsonObject => ({
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": keys,
  items: { type: "object", properties: { name: text, namespace: text } },
})
const listOf = (json: Json, schema: JsonObject): ListValue => schemaValue(json, schema) as ListValue
const sum = (a: ListValue, b: Value): ListValue => a.concat?.(b as ListValue) as ListValue

describe("a list of type set", () => {
  test("is equal to another order of its items", () => {
    const list = listOf(["a", "b"], set(text))
    expect(areEqual(list, listOf(["b", "a"], set(text)))).toBe(true)
    expect(areEqual(list, listOf(["b", "c"], set(text)))).toBe(false)
  })

  test("of whole numbers is not equal to itself, if they may have fractions", () => {
    expect(areEqual(...twice(listOf([1, 2], set({ type: "number" }))))).toBe(false)
    expect(areEqual(...twice(listOf([1, 2], set({ type: "integer" }))))).toBe(true)
    expect(areEqual(...twice(listOf([1.5], set({ type: "number" }))))).toBe(true)
  })

  test("remembers what was added to it", () => {
    const list = listOf(["a"], set(text))
    const more = new ArrayList(["b"])
    expect([...itemsOf(sum(list, more))]).toEqual(["a", "b"])
    expect([...itemsOf(sum(list, more))]).toEqual(["a"])
  })
})

describe("a list of type map", () => {
  const items = [
    { name: "x", namespace: "a" },
    { name: "y", namespace: "b" },
  ]

  test("has the last of the items with the same keys", () => {
    const list = listOf(items, map("name"))
    expect(sum(list, list).size).toBe(2)
    expect(areEqual(...twice(list))).toBe(true)
  })

  test("does not know keys that expressions name differently", () => {
    expect(areEqual(...twice(listOf(items, map("namespace"))))).toBe(false)
  })
})

function twice(list: ListValue): [ListValue, ListValue] {
  return [list, list]
}
