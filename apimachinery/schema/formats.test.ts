import { describe, expect, test } from "vitest"
import { FieldPath } from "../field-errors.ts"
import type { Json } from "../object.ts"
import { hasFormat, isFormatOf } from "./formats.ts"
import { compileSchema } from "./structural/compile.ts"
import { validateDefault, validateRules } from "./validate.ts"

test.each<[string, string, boolean]>([
  ["byte", "", false],
  ["byte", "eA==", true],
  ["hostname", "a-b", true],
  ["hostname", "ab-c", false],
  ["hostname", "ab-c.example", true],
  ["hostname", "2024-01-02", false],
  ["bogus", "anything", true],
  ["mac", "0123456789ab", true],
  ["ssn", "123456789", false],
  ["isbn", "340101319x", false],
  ["creditcard", "3530111333300000", true],
  ["creditcard", "2223003122003222", false],
  ["rgbcolor", "rgb(01,2,3)", false],
  ["uri", "http://[fe80::1%25eth0]/", true],
  ["k8s-long-name", "a".repeat(64), true],
  ["date-time", "2024-01-02T03:04:05ZtX", true],
  ["date-time", "2024-01-02T03:04:05+0100", false],
  ["duration", "5.s", true],
  ["duration", "1 Secretary", true],
  ["duration", "9223372036854775808 x 1s", false],
])("%s %j is valid: %s", (format, text, valid) => {
  expect(hasFormat(format, text)).toBe(valid)
})

test.each<[unknown, string, boolean]>([
  ["string", "date-time", true],
  [undefined, "password", true],
  ["integer", "int32", true],
  ["integer", "float", false],
  ["boolean", "date", false],
  ["string", "bogus", false],
])("for type %s, the format %s is checked: %s", (type, format, says) => {
  expect(isFormatOf(type, format)).toBe(says)
})

const date = { type: "string", format: "date" }
const bogus = { type: "string", format: "bogus" }
const either = { "x-kubernetes-int-or-string": true }
const written = { ...either, anyOf: [{ type: "integer" }, { type: "string" }] }

describe("a value of another type", () => {
  const of = (source: { [name: string]: Json }, value: Json): string[] => {
    const schema = compileSchema({ type: "object", properties: { a: source } })
    return validateRules(schema, { a: value }, FieldPath.root()).map((error) => error.body())
  }

  test.each<[object, Json, string[]]>([
    [date, 5, ['Invalid value: "int64": a in body must be of type date: "int64"']],
    [date, true, ['Invalid value: "": a in body must be of type date: ""']],
    [date, ["x"], []],
    [date, null, ['Invalid value: "null": a in body must be of type string: "null"']],
    [bogus, 5, ['Invalid value: "integer": a in body must be of type string: "integer"']],
    [either, true, ['Invalid value: "boolean": a in body must be of type integer,string: "boolean"']],
    [written, "x", []],
  ])("%j: %j", (source, value, expected) => {
    expect(of(source as { [name: string]: Json }, value)).toEqual(expected)
  })
})

describe("a default of another type", () => {
  const of = (source: { [name: string]: Json }, value: Json): string[] =>
    validateDefault(compileSchema(source), value, FieldPath.root("d")).map((error) => error.message())

  test.each<[object, Json, string[]]>([
    [bogus, 5, ['d: Invalid value: "int64":  in body must be of type bogus: "int64"']],
    [either, true, []],
    [{ ...either, format: "int32" }, 5, ['d: Invalid value: "int64":  in body must be of type int32: "int64"']],
    [
      written,
      true,
      [
        'd: Invalid value: "": "" must validate at least one schema (anyOf)',
        'd: Invalid value: "boolean":  in body must be of type integer: "boolean"',
      ],
    ],
    [{ type: "object", required: [""] }, {}, ["d: Required value"]],
    [
      { type: "object", additionalProperties: { type: "string" } },
      { a: 1 },
      ['d.a: Invalid value: "integer": .a in body must be of type string: "integer"'],
    ],
  ])("%j: %j", (source, value, expected) => {
    expect(of(source as { [name: string]: Json }, value)).toEqual(expected)
  })
})
