import { expect, test } from "vitest"
import { semanticEqual } from "./equality.ts"

test.each<[unknown, unknown, boolean]>([
  [{ a: [] }, {}, true],
  [{ a: null }, {}, true],
  [{ a: { b: null } }, { a: {} }, true],
  [{ lifecycle: {} }, {}, false],
  [{}, { lifecycle: {} }, false],
  [{ a: 0 }, {}, false],
  [[{}], [], false],
  [{ a: [1, 2] }, { a: [2, 1] }, false],
  [{ a: "x" }, { a: "x", constructor: "y" }, false],
  [{ a: { b: [{ c: "x" }] } }, { a: { b: [{ c: "x" }], d: [] } }, true],
])("%j equals %j: %s", (left, right, same) => {
  expect(semanticEqual(left, right)).toBe(same)
  expect(semanticEqual(right, left)).toBe(same)
})
