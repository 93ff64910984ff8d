// structural.cases.json contains a kube-apiserver's responses to these schemas.

import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import type { Json } from "../../object.ts"
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
