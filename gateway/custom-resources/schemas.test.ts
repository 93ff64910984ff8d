import { expect, test } from "vitest"
import type { Json } from "../../apimachinery/object.ts"
import { haveSameTypes } from "./schemas.ts"

const spec = (properties: Json, description = ""): Json => ({
  description,
  type: "object",
  properties: { spec: { type: "object", properties } },
})

test.each<[boolean, string, Json, Json]>([
  [true, "descriptions", spec({ a: { type: "string", description: "a" } }), spec({ a: { type: "string" } }, "whole")],
  [false, "a type", spec({ a: { type: "string" } }), spec({ a: { type: "integer" } })],
  [false, "a field", spec({ a: { type: "string" } }), spec({})],
  [false, "a field named description", spec({ description: { type: "string" } }), spec({})],
  [false, "the type of one", spec({ description: { type: "string" } }), spec({ description: { type: "integer" } })],
])("it is %s that schemas that differ in %s have the same types", (same, _, one, other) => {
  expect([haveSameTypes(one, other), haveSameTypes(other, one)]).toEqual([same, same])
})
