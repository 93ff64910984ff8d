import { expect, test, vi } from "vitest"
import { FieldPath, invalidValue } from "../../apimachinery/field-errors.ts"
import type { Json, KubeObject } from "../../apimachinery/object.ts"
import { compileSchema } from "../../apimachinery/schema/structural/compile.ts"
import { validateFields } from "../../apimachinery/schema/validate.ts"
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

const text = { type: "string" }
const keyed = {
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["k"],
  items: { type: "object", properties: { k: text } },
}
const free = { type: "object", "x-kubernetes-preserve-unknown-fields": true }
const fields = { keyed, plain: { type: "array", items: text }, free, kind: text }
const whole = {
  type: "object",
  properties: {
    spec: { type: "object", properties: fields },
    status: { type: "object", properties: fields },
    kind: text,
  },
}

test.each<[string, string, Json, Json, boolean]>([
  ["a list of type map in another order", "keyed", [{ k: "a" }, { k: "b" }], [{ k: "b" }, { k: "a" }], true],
  ["another list in another order", "plain", ["a", "b"], ["b", "a"], false],
  ["the same list", "plain", ["a", "b"], ["a", "b"], true],
  ["an object with fields that the schema does not contain", "free", { a: 1 }, { a: 1 }, false],
])("%s", (_, name, is, was, passes) => {
  const error = invalidValue(FieldPath.root("spec").child(name), "", "is wrong")
  const [object, current] = [is, was].map(
    (value) => ({ metadata: {}, spec: { [name]: value } }) as unknown as KubeObject,
  )
  const found = newErrors({ errors: [error], owners: new Map() }, object!, current!, whole)
  expect(found).toEqual(passes ? [] : [error])
})

test.each([
  ["kind", false, false],
  ["spec.kind", false, true],
  ["status.kind", false, true],
  ["status.kind", true, false],
])("an unchanged %s is wrong; only the status was validated: %s", (field, ofStatus, passes) => {
  const [first = "", ...names] = field.split(".")
  const path = names.reduce((at, name) => at.child(name), FieldPath.root(first))
  const error = invalidValue(path, "", "is wrong")
  const object = {
    kind: "A",
    metadata: {},
    spec: { kind: "B" },
    status: { kind: "C", plain: [] },
  } as unknown as KubeObject
  const current = { ...object, status: { kind: "C" } }
  const found = newErrors({ errors: [error], owners: new Map() }, object, current, whole, ofStatus)
  expect(found).toEqual(passes ? [] : [error])
})

test("an unchanged number that is not of its type any more passes, although its error has no path", () => {
  const typed = { type: "object", properties: { spec: { type: "object", properties: { n: { type: "integer" } } } } }
  const [was, is] = [object({ n: 1.5 }), object({ n: 1.5, more: 1 })]
  const faults = validateFields(compileSchema(typed), is as unknown as Json, FieldPath.root())
  expect(faults.errors).not.toEqual([])
  expect(newErrors(faults, is, was, typed)).toEqual([])
})

test("deep parts with errors are compared once, and no text is made of their paths", () => {
  let schema: Json = { type: "object", properties: { v: { type: "string" } } }
  let reads = 0
  const leaf = Object.defineProperty({}, "v", { enumerable: true, get: () => (reads++, "x") }) as Json
  let [is, was] = [leaf, { v: "x" } as Json]
  for (let level = 0; level < 100; level++) {
    schema = { type: "object", properties: { a: schema, b: { type: "string", maxLength: 1 } } }
    is = { a: is, b: "long" }
    was = { a: was, b: "other" }
  }
  const typed = { type: "object", properties: { spec: schema } }
  const faults = validateFields(compileSchema(typed), object(is) as unknown as Json, FieldPath.root())
  reads = 0
  using text = vi.spyOn(FieldPath.prototype, "toString")
  expect(newErrors(faults, object(is), object(was), typed)).toHaveLength(100)
  expect(text).not.toHaveBeenCalled()
  expect(reads).toBeLessThan(10)
})
