// definition.cases.json contains a kube-apiserver's responses to definitions with these schemas.

import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { FieldPath } from "../../field-errors.ts"
import type { JsonObject } from "../../schema/json-object.ts"
import { compileStructural } from "../../schema/structural/structural.ts"
import { atOnce } from "../../steps.ts"
import { checkingRules } from "./definition.ts"

interface Case {
  schema: JsonObject
  errors: [string, string, string][]
}

const cases = JSON.parse(readFileSync(new URL("./definition.cases.json", import.meta.url), "utf8")) as Case[]

describe("a definition's rules are validated as by kube-apiserver:", () => {
  test.each(cases.map((one): [string, Case] => [JSON.stringify(one.schema), one]))("%s", (_, { schema, errors }) => {
    const root = FieldPath.root("openAPIV3Schema")
    const structural = compileStructural(schema, root)
    const found = [...structural.errors, ...atOnce(checkingRules(schema, root, structural))]
    const shown = found.map((error) =>
      [error.type, error.field, error.body()].join(" ").replaceAll("openAPIV3Schema", ""),
    )
    const expected = errors.map((error) => error.join(" ").replaceAll("spec.validation.openAPIV3Schema", ""))
    // The message for the whole object contains its name.
    expect(shown.map(plain).sort()).toEqual(expected.map(plain).sort())
  })
})

function plain(text: string): string {
  return text.replaceAll("openAPIV3Schema", "").replaceAll("OpenAPIv3 schema", "").trim()
}
