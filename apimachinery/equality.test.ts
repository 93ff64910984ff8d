import { expect, test } from "vitest"
import { equalIgnoringNulls, equalJson } from "./equality.ts"

/** Whether they are equal, and whether they are equal if null counts as missing. */
test.each<[unknown, unknown, boolean, boolean]>([
  [{ a: 1, b: [2] }, { b: [2], a: 1 }, true, true],
  [{ a: 1, b: undefined }, { a: 1 }, true, true],
  [{ a: 1, b: null }, { a: 1 }, false, true],
  [{ a: { b: null } }, { a: {} }, false, true],
  [null, undefined, false, true],
  [{ a: null }, { a: [] }, false, false],
  [{}, [], false, false],
  [[1, 2], [2, 1], false, false],
  [[1], [1, null], false, false],
  [{ a: 1 }, { a: "1" }, false, false],
  [{ a: "x" }, { a: "x", constructor: "y" }, false, false],
  [{ toString: "x" }, { valueOf: "x" }, false, false],
  [JSON.parse('{"__proto__":{}}'), {}, false, false],
  [JSON.parse('{"__proto__":"x"}'), JSON.parse('{"__proto__":"x"}'), true, true],
])("%j and %j", (left, right, equal, equalWithoutNulls) => {
  for (const [a, b] of [
    [left, right],
    [right, left],
  ]) {
    expect(equalJson(a, b)).toBe(equal)
    expect(equalIgnoringNulls(a, b)).toBe(equalWithoutNulls)
  }
})
