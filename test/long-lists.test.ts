// Lists and maps that a client may make as long as a body, in the forms that take an algorithm longest that goes through them once
// for each of their items: with one that does, these would take minutes or all memory. What is asked is that they end, and that what
// they say is no longer than what was asked.

import { describe, expect, test } from "vitest"
import { compilingRuleTree } from "../apimachinery/cel/rules/rule-tree.ts"
import { evaluateRules } from "../apimachinery/cel/rules/validator.ts"
import { boolType } from "../apimachinery/cel/types/types.ts"
import { Substitutions } from "../apimachinery/cel/types/unify.ts"
import { invalidValue, FieldPath } from "../apimachinery/field-errors.ts"
import { contest, recordUpdate } from "../apimachinery/managed-fields/ownership.ts"
import { apply } from "../apimachinery/managed-fields/apply.ts"
import { type Managers, managersOf } from "../apimachinery/managed-fields/managers.ts"
import { merge } from "../apimachinery/managed-fields/merge.ts"
import { mergeTypeOf } from "../apimachinery/managed-fields/merge-type.ts"
import type { Json } from "../apimachinery/object.ts"
import { applyJsonPatch } from "../apimachinery/patch/json-patch.ts"
import { decodeObject } from "../apimachinery/schema/decode/decode.ts"
import { schemaOf } from "../apimachinery/schema/facts.ts"
import type { JsonObject } from "../apimachinery/schema/json-object.ts"
import { parseObject } from "../apimachinery/schema/json/parse.ts"
import { applyDefaults } from "../apimachinery/schema/defaults.ts"
import type { Schema } from "../apimachinery/schema/schema.ts"
import { compileStructural } from "../apimachinery/schema/structural/structural.ts"
import { validateRules } from "../apimachinery/schema/validate.ts"
import { invalid } from "../apimachinery/status.ts"
import { atOnce } from "../apimachinery/steps.ts"
import { newErrors } from "../gateway/custom-resources/ratcheting.ts"
import { many, numbers, limitThreadTime, outcome, itemsMoved } from "./harness/long-lists.ts"

limitThreadTime()

describe("a JSON patch", () => {
  const operations = (make: (index: number) => Json): Json => Array.from({ length: 10_000 }, (_, index) => make(index))
  const some = 10_000

  test.each<[string, Json, readonly number[]]>([
    [
      "puts items before others",
      operations((index) => ({ op: "add", path: "/list/1", value: -index })),
      [
        0,
        ...numbers
          .slice(0, some)
          .map((n) => -n)
          .toReversed(),
        ...numbers.slice(1),
      ],
    ],
    ["takes items out", operations(() => ({ op: "remove", path: "/list/0" })), numbers.slice(some)],
    [
      "moves items",
      operations(() => ({ op: "move", from: "/list/0", path: "/list/-" })),
      [...numbers.slice(some), ...numbers.slice(0, some)],
    ],
  ])("%s in a long list", (_, patch, list) => {
    let patched: Json = null
    expect(itemsMoved(() => (patched = applyJsonPatch({ list: numbers }, patch)))).toBeLessThan(1e8)
    expect(JSON.stringify(patched)).toBe(JSON.stringify({ list }))
  })

  test("tests long lists that differ in every item", () => {
    const tested = [{ op: "test", path: "/list", value: numbers.map((item) => item + 1) }]
    expect(outcome(() => applyJsonPatch({ list: numbers }, tested))).toMatch("the server rejected our request")
  })
})

describe("YAML", () => {
  const refused = /unrecognized.*: yaml: document contains excessive aliasing/
  const parse = (text: string): unknown => parseObject(Buffer.from(text), "yaml", { duplicates: true }).value

  test.each<[string, string, unknown]>([
    ["one value", `a: &a x\nb: [${"*a,".repeat(20_000)}]`, { a: "x", b: expect.anything() }],
    [
      "many values",
      numbers
        .slice(0, 10_000)
        .map((n) => `k${n}: &a${n} x\nl${n}: *a${n}\n`)
        .join(""),
      expect.anything(),
    ],
    [
      "ever more of them",
      `a0: &a0 x\n${numbers
        .slice(1, 99)
        .map((n) => `a${n}: &a${n} [*a${n - 1},*a${n - 1}]\n`)
        .join("")}`,
      expect.stringMatching(refused),
    ],
    [
      "a long one",
      `a: &a ${"x".repeat(100_000)}\nb: [${"*a,".repeat(100)}]`,
      expect.stringMatching("Request entity too large"),
    ],
  ])("with aliases of %s", (_, text, value) => {
    expect(outcome(() => parse(text))).toEqual(value)
  })
})

describe("what lies deep", () => {
  const deep = (open: string, inner: string, close: string): Buffer =>
    Buffer.from(open.repeat(900) + inner + close.repeat(900))
  const ofKind: Schema = { type: "object", fields: {} }

  test("is known by its numbers, in no more memory than it takes", () => {
    const text = deep(`{"${"a".repeat(1000)}":`, `[${"1.0,".repeat(many)}1.0]`, "}")
    expect(decodeObject(ofKind, parseObject(text, "json", { duplicates: true }).value, true).unknown).toHaveLength(1)
  })

  test("is there twice, and is told of a hundred times", () => {
    const text = deep('{"a":', `{${numbers.map((n) => `"${n >> 1}":1`).join()}}`, "}")
    expect(parseObject(text, "json", { duplicates: true }).duplicates).toHaveLength(100)
  })

  test("is dropped, and told of as far as there is room", () => {
    let schema: Schema = { type: "object", fields: {} }
    for (let depth = 0; depth < 900; depth++) schema = { type: "object", fields: { a: { schema } } }
    const { value } = parseObject(deep('{"a":', `{${numbers.map((n) => `"b${n}":1`).join()}}`, "}"), "json", {
      duplicates: false,
    })
    expect(decodeObject({ ...schema, custom: true }, value, true).unknown.join("").length).toBeLessThan(3_000_000)
  })
})

test("unknown fields below a long name, and those of embedded objects, are told as far as there is room", () => {
  const keepsUnknown = { "x-kubernetes-preserve-unknown-fields": true }
  const embedded = { type: "object", "x-kubernetes-embedded-resource": true, ...keepsUnknown }
  const properties = {
    spec: { type: "object", additionalProperties: { type: "array", items: embedded } },
    status: { type: "object", additionalProperties: { type: "object", properties: {} } },
  }
  const { schema, errors } = compileStructural({ type: "object", properties })
  expect(errors).toEqual([])
  const objects = Array.from({ length: 100 }, () => ({ apiVersion: "v1", kind: "A", metadata: { other: 1 } }))
  const long = "k".repeat(many)
  const status = { [long]: Object.fromEntries(numbers.slice(0, 100).map((n) => [`f${n}`, 1])) }
  const object = { apiVersion: "a/v1", kind: "A", metadata: {}, spec: { [long]: objects }, status: {} }
  const told = (value: JsonObject): number => decodeObject(schema, structuredClone(value), true).unknown.join().length
  expect(told(object)).toBeGreaterThan(10 * many)
  expect(told(object)).toBeLessThan(12 * many)
  expect(told({ ...object, status })).toBeLessThan(12 * many)
})

test("faults that each show the list they are in are told as far as there is room", () => {
  const errors = numbers.map(() => invalidValue(FieldPath.root("spec"), numbers, "must be one"))
  const { status } = invalid({ group: "", kind: "Pod" }, "a", errors)
  expect(JSON.stringify(status).length).toBeLessThan(12_000_000)
})

describe("who manages what", () => {
  const schema = schemaOf({ group: "", version: "v1", kind: "ConfigMap" })
  if (schema === undefined) throw new Error("there is no ConfigMap")
  const type = mergeTypeOf(schema)
  const some = numbers.slice(0, 20_000)
  const map = (value: string): Json => ({ data: Object.fromEntries(some.map((n) => [`k${n}`, value])) })
  const change = { before: map("a"), after: map("b"), type }
  const time = "2026-01-01T00:00:00Z"
  const writer = { manager: "writer", apiVersion: "v1", subresource: "", now: time }
  const each = (operation: "Apply" | "Update"): Managers =>
    managersOf(
      some.map((n) => {
        const fieldsV1 = { "f:data": { ".": {}, [`f:k${n}`]: {} } }
        return { manager: `m${n}`, operation, apiVersion: "v1", time, fieldsType: "FieldsV1", fieldsV1 }
      }),
    )

  test("of as many managers as there are fields", () => {
    const [applied, updated] = [each("Apply"), each("Update")]
    recordUpdate(
      applied,
      writer,
      () => change,
      () => undefined,
    )
    expect(applied.size).toBe(some.length + 1)
    const asTheyWere = { ...change, after: change.before }
    recordUpdate(
      updated,
      writer,
      () => asTheyWere,
      () => undefined,
    )
    expect(updated.size).toBe(10)
    const contesting = contest(
      each("Apply"),
      "",
      () => change,
      () => undefined,
    )
    expect(atOnce(contesting).conflicts.size).toBe(some.length)
  })

  test("of items in another order", () => {
    const list = { list: { atomic: false, keys: [], items: { scalar: "string" } } } as const
    const [forwards, backwards] = [numbers.map(String), numbers.map(String).toReversed()]
    let merged: Json[] = []
    expect(
      itemsMoved(() => (merged = [merge(forwards, backwards, list) ?? null, merge(forwards, forwards, list) ?? null])),
    ).toBeLessThan(1e8)
    expect(JSON.stringify(merged)).toBe(JSON.stringify([backwards, forwards]))
  })

  test("of conflicts that are excused", async () => {
    const managers = managersOf(
      ["a", "b"].map((manager) => {
        const fieldsV1 = { "f:data": Object.fromEntries(some.map((n) => [`f:k${n}`, {}])) }
        return { manager, operation: "Apply", apiVersion: "v1", time, fieldsType: "FieldsV1", fieldsV1 }
      }),
    )
    const versions = { typeIn: () => type, convert: (object: Json) => object }
    const live = map("a")
    const request = {
      live,
      blank: {},
      managers,
      configuration: map("b"),
      writer,
      force: false,
      versions,
      reset: () => undefined,
    }
    const excused = () => ({ "f:data": { "f:k0": {} } })
    await expect(apply({ ...request, excused })).rejects.toThrow(`Apply failed with ${2 * (some.length - 1)} conflicts`)
  })
})

describe("custom resources", () => {
  const items = numbers.slice(0, 20_000).map((n) => ({ name: `n${n}`, value: n }))
  const schema = {
    type: "object",
    properties: {
      items: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        items: {
          type: "object",
          properties: { name: { type: "string" }, value: { type: "integer" } },
          "x-kubernetes-validations": [{ rule: "self.value >= oldSelf.value" }],
        },
      },
    },
  }

  test("correspond to what they were, item by item", () => {
    const tree = atOnce(compilingRuleTree(schema, false))
    if (tree === undefined) throw new Error("there is a rule")
    const evaluation = evaluateRules(tree, FieldPath.root(), { items: items.toReversed() }, { items }, true)
    let next = evaluation.next()
    while (next.done !== true) next = evaluation.next()
    expect(next.value.errors).toEqual([])
  })

  test("have rules of many operators, each with parameters of its own", () => {
    const substitutions = new Substitutions()
    expect(numbers.every(() => substitutions.unify([boolType], [substitutions.newParameter()]))).toBe(true)
  })

  test("have values of a long enumeration", () => {
    const list: Schema = { type: "list", items: { type: "integer", rules: { enum: numbers } } }
    expect(validateRules(list, numbers.toReversed(), FieldPath.root("a"))).toEqual([])
  })

  test("have defaults as large as all of their items together", () => {
    const preset = { a: "x".repeat(1_000_000) }
    const item: Schema = { type: "object", fields: { a: { schema: { type: "object", fields: {}, default: preset } } } }
    const object = { list: numbers.map(() => ({})) }
    const ask = () =>
      applyDefaults({ type: "object", fields: { list: { schema: { type: "list", items: item } } } }, object)
    expect(outcome(ask)).toMatch("defaults add more than")
  })

  test("are wrong as they were, deep down in maps of maps", () => {
    let [deep, object]: [Json, Json] = [{ type: "string" }, "a"]
    for (let depth = 0; depth < 40; depth++) {
      deep = { type: "object", additionalProperties: deep }
      object = { a: object }
    }
    const whole = (more: Json) => ({ apiVersion: "a/v1", kind: "A", metadata: {}, spec: object, more }) as never
    let at = FieldPath.root("spec")
    for (let depth = 0; depth < 40; depth++) at = at.child("a")
    const of = { type: "object", properties: { spec: deep, more: { type: "string" } } }
    const errors = [invalidValue(at, "a", "is wrong"), invalidValue(FieldPath.root("more"), "b", "is wrong")]
    expect(newErrors({ errors, owners: new Map() }, whole("a"), whole("b"), of)).toEqual(errors.slice(1))
  })

  test("are told apart by keys that a definition repeats", () => {
    const keys = numbers.slice(0, 20_000).map(() => "name")
    const list = { ...schema.properties.items, "x-kubernetes-list-map-keys": keys }
    const { errors } = compileStructural({ type: "object", properties: { list } }, FieldPath.root("spec"))
    expect(JSON.stringify(invalid({ group: "", kind: "A" }, "a", errors).status).length).toBeLessThan(12_000_000)
  })
})
