import { expect, test } from "vitest"
import { dictionary } from "./dictionary.ts"

test("contains only the keys written to it", () => {
  const table = dictionary({ a: 1, toString: 2 })
  expect(Object.entries(table)).toEqual([
    ["a", 1],
    ["toString", 2],
  ])
  for (const name of ["b", "constructor", "valueOf", "__proto__", "hasOwnProperty"]) expect(table[name]).toBe(undefined)
})
