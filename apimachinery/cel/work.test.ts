import { afterEach, describe, expect, test, vi } from "vitest"
import { environment, values } from "../testing/cel-answers.ts"
import { isTooLarge, JsonPatchValue } from "./admission/patch-values.ts"
import { compileExpression } from "./program.ts"
import { ArrayList, type Value } from "./values.ts"

/** A list of two lists of two lists …: hardly any work to make. */
const nested = (levels: number): string => `[1]${".map(x, [x, x])".repeat(levels)}`

afterEach(() => vi.restoreAllMocks())

describe("going through lists that contain each other is interrupted:", () => {
  test.each([
    `${nested(60)} == ${nested(60)}`,
    `${nested(60)} in [${nested(60)}]`,
    `[${nested(60)}, ${nested(60)}].distinct().size() == 1`,
    `${nested(60)}.flatten(60).size() == 1`,
    `[${nested(60)}].indexOf(${nested(60)}) == 0`,
    `'%s'.format([${nested(60)}]) == ''`,
  ])("%s", (source) => {
    let ms = 0
    vi.spyOn(performance, "now").mockImplementation(() => (ms += 100))
    vi.spyOn(process, "threadCpuUsage").mockImplementation(() => ({ user: ms * 1000, system: 0 }))
    const { program } = compileExpression(source, environment)
    expect(() => program?.evaluate(values, 1e9)).toThrow("operation interrupted: it takes longer than 1000 ms")
  })
})

test("a patch with such a list is not made", () => {
  let list: Value = new ArrayList([1n])
  for (let level = 0; level < 60; level++) list = new ArrayList([list, list])
  const patch = (value: Value): Value => new ArrayList([new JsonPatchValue(new Map([["value", value]]))])
  expect(isTooLarge(patch(list))).toBe(true)
  expect(isTooLarge(patch(new ArrayList([1n, "a"])))).toBe(false)
  expect(isTooLarge(patch("x".repeat(5_000_000)))).toBe(true)
})
