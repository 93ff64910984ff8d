import { expect, test, vi } from "vitest"
import { FieldPath, notSupported } from "./field-errors.ts"

test("supported values are printed once, however many values are not supported", () => {
  const supported = ["a", "b"]
  using printing = vi.spyOn(supported, "map")
  const messages = ["x", "y"].map((value) => notSupported(FieldPath.root("spec"), value, supported).message())
  expect(messages).toEqual([
    'spec: Unsupported value: "x": supported values: "a", "b"',
    'spec: Unsupported value: "y": supported values: "a", "b"',
  ])
  expect(printing).toHaveBeenCalledTimes(1)
})

test.each<[path: FieldPath, text: string]>([
  [FieldPath.root("spec", "containers").index(0).child("name"), "spec.containers[0].name"],
  [FieldPath.root("metadata").child("labels").key("a/b"), "metadata.labels[a/b]"],
  [FieldPath.root("spec").index(1).index(2).key("c"), "spec[1][2][c]"],
  [FieldPath.root("spec").child("a", "b").child("[c]"), "spec.a.b.[c]"],
  [FieldPath.root(), ""],
  [FieldPath.root().child("spec"), "spec"],
  [FieldPath.root().index(3).child("spec"), "[3].spec"],
  [FieldPath.root(""), "[]"],
  [FieldPath.root("").child("a"), "[].a"],
])("a path %# prints as %j", (path, text) => {
  expect(path.toString()).toBe(text)
})
