import { expect, test } from "vitest"
import { remember } from "./remember.ts"

test("the entry that was remembered longest ago is dropped", () => {
  const map = new Map<string, number>()
  for (const [index, key] of ["a", "b", "a", "c", "c"].entries()) remember(map, key, index, 2)
  expect([...map]).toEqual([
    ["a", 2],
    ["c", 4],
  ])
})
