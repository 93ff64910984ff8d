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
