import { expect, test, vi } from "vitest"
import { FieldPath } from "../../field-errors.ts"
import { wordErrors } from "./words.ts"

test.each([
  ["without", {}],
  ["with", { additionalProperties: { type: "string" } }],
])("fields are not listed for each rule with a path to none of them, %s additionalProperties", (_, more) => {
  const properties = { a: { type: "string" }, b: { $ref: "x" } }
  const rules = Array.from({ length: 100 }, () => ({ rule: "true", fieldPath: ".c" }))
  const schema = { type: "object", properties, ...more, "x-kubernetes-validations": rules }
  using keys = vi.spyOn(Object, "keys")
  using values = vi.spyOn(Object, "values")
  const { length } = wordErrors(schema, FieldPath.root("schema"))
  const listed = [...keys.mock.calls, ...values.mock.calls].filter(([of]) => of === properties)
  expect(length).toBe(0)
  expect(listed.length).toBeLessThanOrEqual(2)
})
