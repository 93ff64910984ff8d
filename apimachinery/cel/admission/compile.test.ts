import { expect, test } from "vitest"
import { atOnce } from "../../steps.ts"
import { boolType } from "../types/types.ts"
import { compileIn, compilingVariables } from "./compile.ts"
import { admissionEnvironment } from "./environment.ts"
import type { Type } from "../types/types.ts"

const depthOf = (type: Type | undefined): number =>
  type === undefined ? 0 : 1 + Math.max(0, ...type.parameters.map(depthOf))

test("types of variables do not nest as deep as there are variables", () => {
  const variables = Array.from({ length: 1000 }, (_, index) => ({
    name: `v${index}`,
    expression: index === 0 ? "[1]" : `[variables.v${index - 1}]`,
  }))
  const { compiled, types } = atOnce(compilingVariables(variables, false))
  expect(compiled.filter(({ fault }) => fault !== undefined)).toEqual([])
  expect(depthOf(types.get("v9"))).toBe(11)
  expect(depthOf(types.get("v999"))).toBeLessThan(40)
})

test("an expression of another type is told before its constants fail", () => {
  const environment = admissionEnvironment({ params: false, authorizer: false, variables: new Map() })
  expect(compileIn(environment, "int('a')", [boolType]).fault).toBe("must evaluate to bool but got int")
  expect(compileIn(environment, "int('a') == 1", [boolType]).fault).toMatch(/^program instantiation failed: /)
})
