import { describe, expect, test } from "vitest"
import { FieldPath } from "../../../apimachinery/field-errors.ts"
import { countIndexes, overlapOf } from "./indexes.ts"
import type { JobSpec } from "./types.ts"
import { validateSuccessPolicy } from "./policies.ts"

describe("indexes in text form", () => {
  test.each<[string, ReturnType<typeof countIndexes>]>([
    ["", 0],
    ["0", 1],
    ["1,3-5,7", 5],
    [
      "1-2-3",
      {
        fault: `the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by '-'`,
      },
    ],
    ["x", { fault: 'cannot convert string to integer for index: "x"' }],
    ["1-", { fault: 'cannot convert string to integer for index: ""' }],
    ["3,10", { fault: 'too large index: "10"' }],
    ["3,3", { fault: "non-increasing order, previous: 3, current: 3" }],
    ["5-4", { fault: "non-increasing order, previous: 5, current: 4" }],
  ])("%j of ten are: %j", (text, expected) => {
    expect(countIndexes(text, 10)).toEqual(expected)
  })

  test("overlap at the first common index, ignoring invalid intervals", () => {
    expect(overlapOf("0,2-4", "1,5", 10)).toBeUndefined()
    expect(overlapOf("0,2-6", "1,x,5-7", 10)).toBe(5)
  })
})

test("a success policy must not require more than there are indexes", () => {
  const spec = { completions: 3, successPolicy: { rules: [{ succeededIndexes: "0-1", succeededCount: 4 }, {}] } }
  expect(validateSuccessPolicy(FieldPath.root("spec"), spec as JobSpec).map((error) => error.message())).toEqual([
    "spec.rules[0].succeededCount: Invalid value: 4: must be less than or equal to 3 (the number of specified completions)",
    "spec.rules[0].succeededCount: Invalid value: 4: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)",
    "spec.rules[1]: Required value: at least one of succeededCount or succeededIndexes must be specified",
  ])
})
