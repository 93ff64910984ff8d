import { expect, test } from "vitest"
import { FieldPath, invalidValue } from "../../apimachinery/field-errors.ts"
import type { Json, KubeObject } from "../../apimachinery/object.ts"
import { newErrors } from "./ratcheting.ts"

const schema = {
  type: "object",
  properties: { spec: { type: "object", additionalProperties: { type: "object", additionalProperties: {} } } },
}
const object = (spec: Json): KubeObject => ({ apiVersion: "a/v1", kind: "A", metadata: {}, spec }) as KubeObject

test("an unchanged entry does not excuse errors of an entry whose key has the same prefix", () => {
  const [was, is] = [object({ a: { b: 1 } }), object({ a: { b: 1 }, "a.b": { b: 2 } })]
  const spec = FieldPath.root("spec")
  const [within, beside] = [
    invalidValue(spec.key("a").child("b"), 1, "is wrong"),
    invalidValue(spec.key("a.b").child("b"), 2, "is wrong"),
  ]
  expect(newErrors({ errors: [within, beside], owners: new Map() }, is, was, schema)).toEqual([beside])
})
