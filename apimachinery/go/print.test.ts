import { expect, test } from "vitest"
import "../schema/exact-integers.ts" // titles of tests contain bigints
import { goFixed, goJson, printGo, printJson } from "./print.ts"
import type { Json } from "../object.ts"

test.each<[Json, string]>([
  [1.5, "1.5"],
  [1234567.5, "1.2345675e+06"],
  [999999.5, "999999.5"],
  [1e21, "1e+21"],
  [0.00001, "1e-05"],
  [0.0001, "0.0001"],
  [10000000, "10000000"],
  [2n ** 62n, "4611686018427387904"],
  [{ b: [1, null], a: { c: true } }, "map[a:map[c:true] b:[1 <nil>]]"],
])("%j is %s as text", (value, text) => {
  expect(printGo(value)).toBe(text)
})

test.each<[Json, string]>([
  [{ b: 1, a: "<&>" }, '{"a":"\\u003c\\u0026\\u003e","b":1}'],
  [{ 9: [null], 10: 1e21 }, '{"10":1e+21,"9":[null]}'],
])("%j is %s as JSON", (value, text) => {
  expect(goJson(value)).toBe(text)
})

test.each([
  [2.25, 1, "2.2"],
  [2.75, 1, "2.8"],
  [-2.25, 1, "-2.2"],
  [1.4999998, 6, "1.500000"],
  [1.0000002, 6, "1.000000"],
])("%j with %j digits is %s", (value, digits, text) => {
  expect(goFixed(value, digits)).toBe(text)
})

test("JSON has the escapes of Go's encoder", () => {
  const odd = 'a<b>&c\u2028d\u2029e"\\/\u0001é'
  expect(printJson({ [odd]: odd })).toBe(
    String.raw`{"a\u003cb\u003e\u0026c\u2028d\u2029e\"\\/\u0001é":"a\u003cb\u003e\u0026c\u2028d\u2029e\"\\/\u0001é"}`,
  )
})
