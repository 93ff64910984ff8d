// validate.cases.json contains a kube-apiserver's responses to these custom resources.

import { readFileSync } from "node:fs"
import { describe, expect, test, vi } from "vitest"
import { FieldPath } from "../field-errors.ts"
import type { Json } from "../object.ts"
import { StatusError } from "../status.ts"
import { decodeObject, parseObject } from "./decode/decode.ts"
import { applyDefaults } from "./defaults.ts"
import { parseJson } from "./exact-integers.ts"
import { compileStructural } from "./structural/structural.ts"
import { validateLists } from "./validate-lists.ts"
import { validateRules } from "./validate.ts"

interface Case {
  spec: Json
  result?: Json
  refused?: string
  errors?: [string, string, string][]
}

const recorded = parseJson(readFileSync(new URL("./validate.cases.json", import.meta.url))) as unknown as {
  schema: Json
  cases: Case[]
}
const { schema, errors } = compileStructural(recorded.schema)

function answerTo(body: Json): Omit<Case, "spec"> {
  const text = JSON.stringify({ apiVersion: "schema-eng.example/v1", kind: "Foo", metadata: { name: "x" }, spec: body })
  const { value } = parseObject(Buffer.from(text), "json", { duplicates: false })
  try {
    decodeObject(schema, value, false)
  } catch (error) {
    if (error instanceof StatusError) return { refused: error.message }
    throw error
  }
  applyDefaults(schema, value)
  const found = validateRules(schema, value, FieldPath.root())
  return found.length === 0
    ? { result: (value as { spec: Json }).spec }
    : { errors: found.map((error) => [error.type, error.field, error.body()]) }
}

describe("a custom resource is validated as by kube-apiserver:", () => {
  test("the schema is structural", () => {
    expect(errors).toEqual([])
  })

  test.each(recorded.cases.map((one): [string, Case] => [JSON.stringify(one.spec), one]))(
    "%s",
    (_, { spec, ...answer }) => {
      expect(answerTo(spec)).toEqual(answer)
    },
  )
})

test("unknown fields are dropped and reported, also in embedded objects", () => {
  const value = {
    apiVersion: "a/v1",
    kind: "Foo",
    metadata: { name: "x", foo: 1 },
    spec: { q: 1, emb: { metadata: { y: 1 } } },
    status: {},
  }
  expect(decodeObject(schema, value, true).unknown).toEqual([
    'unknown field "metadata.foo"',
    'unknown field "spec.q"',
    'unknown field "status"',
    'unknown field "spec.emb.metadata.y"',
  ])
  expect(value).toEqual({ apiVersion: "a/v1", kind: "Foo", metadata: { name: "x" }, spec: { emb: { metadata: {} } } })
})

describe("validateRules()", () => {
  const none = { type: "object", additionalProperties: false }
  const listed = { type: "string", nullable: true, enum: ["a", null] }
  test.each<[Json, Json, string[]]>([
    [none, {}, []],
    [none, { a: 1 }, ['x: Invalid value: "a": x.a in body is a forbidden property']],
    [
      { type: "array", items: none },
      [{}, { b: {} }],
      ['x[1]: Invalid value: "b": x[1].b in body is a forbidden property'],
    ],
    [
      { type: "object", not: { additionalProperties: false } },
      {},
      ['<nil>: Invalid value: "": "x" must not validate the schema (not)'],
    ],
    [{ type: "object", not: { additionalProperties: false }, additionalProperties: true }, { a: 1 }, []],
    [
      { type: "object", additionalProperties: { type: "string" } },
      [1],
      ['x: Invalid value: "array": x in body must be of type object: "array"'],
    ],
    [listed, null, ['x: Unsupported value: null: supported values: "a", "null"']],
  ])("of %j, %j: %j", (property, value, expected) => {
    const { schema, errors } = compileStructural({ type: "object", properties: { x: property } })
    expect(errors).toEqual([])
    expect(validateRules(schema, { x: value }, FieldPath.root()).map((error) => error.message())).toEqual(expected)
  })
})

describe("a value whose validation takes very long", () => {
  const anyOf = Array.from({ length: 3000 }, (_, index) => ({ pattern: `^x${index}$` }))
  const property = { type: "array", items: { type: "string", anyOf } }
  const { schema: slow } = compileStructural({ type: "object", properties: { x: property } } as never)
  const check = (items: number): unknown =>
    validateRules(slow, { x: Array.from({ length: items }, () => "x2999") }, FieldPath.root())

  test("is rejected, a short one is not", () => {
    expect(check(1)).toEqual([])
    expect(() => check(100_000)).toThrow("it takes longer than 1000 ms to check it")
  })
})

test("all of many faults are reported", () => {
  const list = Array.from({ length: 250 }, () => "x")
  const { schema: ofLists } = compileStructural({
    type: "object",
    properties: { list: { type: "array", items: { type: "integer" } } },
  })
  expect(validateRules(ofLists, { list }, FieldPath.root())).toHaveLength(250)
})

test("whole numbers that were given as doubles are shown as such, and are no integers where another type is expected", () => {
  const { schema } = compileStructural({
    type: "object",
    properties: {
      most: { type: "number", maximum: -5 },
      one: { type: "integer", enum: [7] },
      set: { type: "array", items: { type: "number" }, "x-kubernetes-list-type": "set" },
      text: { type: "string" },
    },
  })
  const bodiesOf = (fields: string): string[] => {
    const text = `{"apiVersion":"a/v1","kind":"A",${fields}}`
    const { value } = parseObject(Buffer.from(text), "json", { duplicates: false })
    decodeObject(schema, value, false)
    return validateRules(schema, value, FieldPath.root()).map((error) => error.body())
  }
  expect(bodiesOf('"most":1000000')).toEqual([
    "Invalid value: 1000000: most in body should be less than or equal to -5",
  ])
  expect(bodiesOf('"most":1e6')).toEqual(["Invalid value: 1e+06: most in body should be less than or equal to -5"])
  expect(bodiesOf('"one":-0.0')).toEqual(['Unsupported value: -0: supported values: "7"'])
  expect(bodiesOf('"set":[0.0,0,1e6,1e6]')).toEqual(["Duplicate value: 1e+06"])
  expect(bodiesOf('"text":1.0')).toEqual(['Invalid value: "number": text in body must be of type string: "number"'])
})

test("items of a list are told apart without objects of their keys, and lists of other items are not gone through", () => {
  const text = { type: "string" }
  const entries = (type: string) => ({
    type: "array",
    "x-kubernetes-list-type": type,
    ...(type === "map" ? { "x-kubernetes-list-map-keys": ["b", "a"] } : {}),
    items: { type: "object", required: ["a", "b"], properties: { a: text, b: text } },
  })
  const { schema } = compileStructural({
    type: "object",
    properties: { map: entries("map"), list: entries("atomic") },
  })
  const items = Array.from({ length: 100 }, (_, n) => ({ a: `a${n % 99}`, b: `b${n % 99}` }))
  const list = [...items, ...items, { b: "b1", a: "b2" }]
  using made = vi.spyOn(Object, "fromEntries")
  using followed = vi.spyOn(FieldPath.prototype, "index")
  const errors = validateLists(schema, { map: list, list }, FieldPath.root())
  expect(errors.map((error) => `${error.field}: ${error.body()}`)).toEqual([
    'map[99]: Duplicate value: {"a":"a0","b":"b0"}',
    ...Array.from({ length: 98 }, (_, n) => `map[${101 + n}]: Duplicate value: {"a":"a${n + 1}","b":"b${n + 1}"}`),
  ])
  expect(followed).toHaveBeenCalledTimes(errors.length)
  expect(made.mock.calls.length).toBeLessThan(3 * errors.length)
})
