import { describe, expect, test } from "vitest"
import { FieldPath } from "../field-errors.ts"
import { expressionsSizeErrors, maxExpressions } from "./expressions-size.ts"

const rules = (...sizes: number[]): object => ({
  properties: { a: { "x-kubernetes-validations": sizes.map((size) => ({ rule: "x".repeat(size), message: "y" })) } },
})
const faults = (given: object, current?: object): string[] =>
  expressionsSizeErrors(FieldPath.root("spec"), given, current).map((error) => error.message())
const tooLong = ["spec: Too long: all expressions together must not have more than 524288 characters"]

describe("expressionsSizeErrors()", () => {
  test("adds up all expressions of an object", () => {
    const half = maxExpressions / 2
    expect(faults(rules(half, half))).toEqual([])
    expect(faults(rules(half, half, 1))).toEqual(tooLong)
    expect(
      faults({ validations: [{ expression: "x".repeat(half), messageExpression: "x".repeat(half + 1) }] }),
    ).toEqual(tooLong)
    expect(faults({ auditAnnotations: [{ key: "a", valueExpression: "x".repeat(maxExpressions + 1) }] })).toEqual(
      tooLong,
    )
  })

  test("counts nothing else", () => {
    expect(faults({ description: "x".repeat(maxExpressions + 1) })).toEqual([])
  })

  test("allows updates of what is stored to stay as large as it is", () => {
    expect(faults(rules(maxExpressions + 2), rules(maxExpressions + 2))).toEqual([])
    expect(faults(rules(maxExpressions + 1), rules(maxExpressions + 2))).toEqual([])
    expect(faults(rules(maxExpressions + 3), rules(maxExpressions + 2))).toEqual(tooLong)
  })
})
