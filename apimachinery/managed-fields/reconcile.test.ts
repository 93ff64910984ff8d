import { expect, test } from "vitest"
import { FieldPath } from "../field-errors.ts"
import type { Json } from "../object.ts"
import { compileStructural } from "../schema/structural/structural.ts"
import type { FieldSet } from "./field-set.ts"
import { mergeTypeOf } from "./merge-type.ts"
import { reconciled } from "./reconcile.ts"

const atomic = { type: "object", "x-kubernetes-map-type": "atomic" }
const free = { "x-kubernetes-preserve-unknown-fields": true }
const properties = { a: { type: "string" } }

// As structured-merge-diff (test/kubernetes/differential/random/reshaped.ts).
test.each<[string, Json, FieldSet]>([
  ["with fields", { ...atomic, properties }, {}],
  ["with fields and others", { ...atomic, ...free, properties }, {}],
  ["of texts", { ...atomic, additionalProperties: { type: "string" } }, {}],
  ["of anything", { ...atomic, ...free }, { "f:a": {} }],
  ["of values of any type", { ...atomic, additionalProperties: free }, { "f:a": {} }],
  ["of objects of any type", { ...atomic, additionalProperties: { ...free, properties } }, { "f:a": {} }],
  ["of lists of any type", { ...atomic, additionalProperties: { ...free, items: { type: "string" } } }, { "f:a": {} }],
  ["of times", { ...atomic, additionalProperties: { type: "string", format: "date-time" } }, { "f:a": {} }],
])("the manager of a part of a map %s that has become atomic", (_, map, owned) => {
  const source: Json = { type: "object", properties: { spec: { type: "object", properties: { map } } } }
  const type = mergeTypeOf(compileStructural(source, FieldPath.root("schema")).schema)
  const set: FieldSet = { "f:spec": { "f:map": { "f:a": {} } } }
  expect(reconciled(set, type)).toEqual({ "f:spec": { "f:map": owned } })
})
