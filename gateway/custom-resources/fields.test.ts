import { expect, test } from "vitest"
import { plainFields, valueAt } from "./fields.ts"

test.each<[string, string[]]>([
  [".spec.replicas", ["spec", "replicas"]],
  [".spec['a']", ["spec['a']"]],
  [".spec.a[0]", ["spec", "a[0]"]],
  [".spec.", ["spec", ""]],
])("plainFields() of %s are %j", (path, expected) => {
  expect(plainFields(path)).toEqual(expected)
})

test("valueAt() returns only own properties", () => {
  const object = { spec: { n: 3, list: [1] } }
  expect(valueAt(object, ["spec", "n"])).toBe(3)
  expect(valueAt(object, ["spec", "n", "x"])).toBeUndefined()
  expect(valueAt(object, ["spec", "list", "length"])).toBeUndefined()
  expect(valueAt(object, ["constructor"])).toBeUndefined()
})
