// structural.cases.json contains a kube-apiserver's responses to these schemas.

import { readFileSync } from "node:fs"
import { describe, expect, test, vi } from "vitest"
import { FieldPath } from "../../field-errors.ts"
import type { Json } from "../../object.ts"
import { validateWithinBudget } from "../../validation-budget.ts"
import { compileStructural } from "./structural.ts"

interface Case {
  schema: Json
  errors: [string, string, string][]
}

const cases = JSON.parse(readFileSync(new URL("./structural.cases.json", import.meta.url), "utf8")) as Case[]

describe("compileStructural() reports the same errors as kube-apiserver in", () => {
  test.each(cases.map((one): [string, Case] => [JSON.stringify(one.schema), one]))("%s", (_, { schema, errors }) => {
    const found = compileStructural(schema).errors.map((error) => `${error.type} ${error.field} ${error.body()}`)
    expect(new Set(found)).toEqual(new Set(errors.map((error) => error.join(" "))))
  })
})

test("rules are compiled once, however many defaults they are below", () => {
  let schema: object = {
    type: "object",
    properties: { x: { type: "integer" } },
    "x-kubernetes-validations": Array.from({ length: 60 }, (_, index) => ({
      rule: `!has(self.x) || self.x != ${index}`,
    })),
  }
  for (let level = 0; level < 100; level++) schema = { type: "object", default: {}, properties: { inner: schema } }
  const whole = { type: "object", properties: { outer: schema } } as never
  // More would be more than may be compiled for one write.
  expect(validateWithinBudget(() => compileStructural(whole).errors)).toEqual([])
})

test("paths are made only for patterns that are wrong", () => {
  const properties = Object.fromEntries(["^a", "^b", "("].map((pattern) => [pattern, { type: "string", pattern }]))
  using child = vi.spyOn(FieldPath.prototype, "child")
  expect(compileStructural({ type: "object", properties }).errors).toHaveLength(1)
  expect(child.mock.calls.filter(([name]) => name === "pattern")).toHaveLength(1)
})
