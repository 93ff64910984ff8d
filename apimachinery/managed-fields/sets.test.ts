import { describe, expect, test } from "vitest"
import type { Json } from "../object.ts"
import { canonicalSet } from "./canonical-set.ts"
import {
  difference,
  equalSets,
  type FieldSet,
  has,
  intersection,
  isEmpty,
  OfMany,
  partWithin,
  paths,
  recursiveDifference,
  setOfFields,
  setOfPaths,
  union,
} from "./field-set.ts"
import { capUpdateManagers, entriesOf, type Managers, type Operation, parseManagers } from "./managers.ts"
import { canonicalElement, compareElements, keyElement, printElement, valueElement } from "./path-element.ts"
import { printSet } from "./testing/state.ts"

describe("path elements", () => {
  test.each<[string, string]>([
    ["f:name", ".name"],
    ['k:{"name":"a"}', '[name="a"]'],
    ['k:{"port":80,"protocol":"TCP"}', '[port=80,protocol="TCP"]'],
    ['v:"x"', '[="x"]'],
    ["v:5", "[=5]"],
    ["i:3", "[3]"],
  ])("%s is printed as %s", (element, printed) => expect(printElement(element)).toBe(printed))

  test.each<[string, string | undefined]>([
    ['k:{"b":1, "a":"x"}', 'k:{"a":"x","b":1}'],
    ['v: "a<b"', 'v:"a\\u003cb"'],
    ['k:{"a":{"c":1,"b":null}}', 'k:{"a":{"b":null,"c":1}}'],
    ["v:-0", "v:-0"],
    ["v:1.50e1", "v:15"],
    ["i:007", "i:7"],
    ["i:-9223372036854775808", "i:-9223372036854775808"],
    ["z:whatever", undefined],
  ])("%s is written as %s", (given, wanted) => expect(canonicalElement(given)).toBe(wanted))

  test.each(["f", "name", "k:[]", "k:{", "v:", "v:1e400", 'k:{"a":1e400}', "i:x", "i:9223372036854775808"])(
    "%s is rejected",
    (given) => expect(() => canonicalElement(given)).toThrow(SyntaxError),
  )

  test("nested too deeply are rejected", () => {
    expect(() => canonicalElement(`v:${"[".repeat(5000)}${"]".repeat(5000)}`)).toThrow(SyntaxError)
  })

  test("are sorted by kind, then by names, keys and values, numerically for numbers", () => {
    const wanted = [
      "f:a",
      "f:b",
      "f:\ue000",
      "f:\u{1f600}",
      'k:{"name":"a"}',
      'k:{"port":80,"protocol":"TCP"}',
      'k:{"port":443}',
      "v:9",
      "v:10",
      'v:"10"',
      "v:true",
      "i:2",
      "i:10",
    ]
    expect([...wanted].reverse().sort(compareElements)).toEqual(wanted)
  })

  test("of values are escaped like JSON of Go", () => {
    expect(valueElement("a&b")).toBe('v:"a\\u0026b"')
    expect(keyElement([["name", "é\u2028"]])).toBe('k:{"name":"é\\u2028"}')
  })
})

describe("sets", () => {
  const a = setOfFields(["a"], ["a", "b"], ["a", "c"], ["d", "e"])
  const b = setOfFields(["a"], ["a", "b", "x"], ["d"])

  test("are equal to FieldsV1", () => {
    expect(JSON.stringify(a)).toBe('{"f:a":{".":{},"f:b":{},"f:c":{}},"f:d":{"f:e":{}}}')
    expect(JSON.stringify(b)).toBe('{"f:a":{".":{},"f:b":{"f:x":{}}},"f:d":{}}')
  })

  test.each<[string, object, string[]]>([
    ["union", union(a, b), [".a", ".d", ".a.b", ".a.c", ".a.b.x", ".d.e"]],
    ["intersection", intersection(a, b), [".a"]],
    ["difference", difference(a, b), [".a.b", ".a.c", ".d.e"]],
    ["difference, the other way", difference(b, a), [".d", ".a.b.x"]],
    ["recursive difference", recursiveDifference(a, b), []],
    ["recursive difference, the other way", recursiveDifference(b, a), [".d"]],
  ])("%s", (_, set, wanted) => expect(printSet(set as never)).toEqual(wanted))

  test("operations do not change their operands, and share unchanged parts", () => {
    const before = JSON.stringify([a, b])
    const left = difference(a, setOfFields(["d", "e"]))
    expect(left["f:a"]).toBe(a["f:a"])
    expect(JSON.stringify([a, b])).toBe(before)
    expect(difference(a, setOfFields(["nothing"]))).toBe(a)
  })

  test("distinguish members from paths to members", () => {
    expect(has(a, ["f:a"])).toBe(true)
    expect(has(a, ["f:d"])).toBe(false)
    expect(has(a, ["f:d", "f:e"])).toBe(true)
    expect(has(a, [])).toBe(false)
    expect(isEmpty(difference(a, a))).toBe(true)
    expect(equalSets(union(a, b), union(b, a))).toBe(true)
  })

  test("of clients are written in canonical form, without unknown elements", () => {
    const given = { "f:b": {}, "f:a": { 'k:{"y":1, "x":2}': {}, ".": {}, "q:?": {} }, "f:c": { "q:?": {} } }
    expect(JSON.stringify(canonicalSet(given))).toBe('{"f:a":{".":{},"k:{\\"x\\":2,\\"y\\":1}":{}},"f:b":{},"f:c":{}}')
    expect(setOfPaths(["v:10"], ["v:9"])).toEqual({ "v:9": {}, "v:10": {} })
  })

  test("of clients that are invalid are rejected at any depth", () => {
    const deep = (levels: number): Json => (levels === 0 ? {} : { "f:a": deep(levels - 1) })
    expect(() => canonicalSet(deep(2000))).toThrow("nested too deeply")
    for (const value of [[], "x", { "f:a": 1 }, { "f:a": [] }, { __proto__x: {} }, { a: {} }]) {
      expect(() => canonicalSet(value as Json)).toThrow(SyntaxError)
    }
    expect(() => canonicalSet(JSON.parse('{"__proto__":{}}') as Json)).toThrow(SyntaxError)
  })
})

describe("thousands of managers, which a client can create,", () => {
  const fields = (prefix: string, count: number): FieldSet =>
    canonicalSet({ "f:data": Object.fromEntries(Array.from({ length: count }, (_, at) => [`f:${prefix}${at}`, {}])) })
  const managersOf = (operation: Operation, count: number): Managers =>
    parseManagers(
      Array.from({ length: count }, (_, index) => ({
        manager: `m${index}`,
        operation,
        apiVersion: "v1",
        time: "2020-01-01T00:00:00Z",
        fieldsType: "FieldsV1",
        fieldsV1: setOfFields(["data", `x${index}`]),
      })),
    )

  test("come first if their time is not set", () => {
    const entry = { operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1" }
    const given = [
      { ...entry, manager: "a" },
      { ...entry, manager: "b", time: "0001-01-01T00:00:00Z" },
    ]
    const shown = (isCustom: boolean) => entriesOf(parseManagers(given, isCustom))?.map(({ time }) => time)
    expect(shown(false)).toEqual([null, undefined])
    expect(shown(true)).toEqual([undefined, undefined])
  })

  // These would take minutes if every set were copied completely.
  test("are merged until ten updates are left", () => {
    const managers = managersOf("Update", 20_000)
    capUpdateManagers(managers)
    expect(managers.size).toBe(10)
    const old = [...managers.values()].find(({ manager }) => manager === "ancient-changes")
    expect([...paths(old?.fieldsV1 ?? {})]).toHaveLength(20_000 - 9)
  })

  test("can have fields removed", () => {
    const taken = fields("x", 15_000)
    const of = new OfMany()
    const left = [...managersOf("Apply", 15_000).values()].map(({ fieldsV1 }) => of.difference(fieldsV1, taken))
    expect(left.every((set) => isEmpty(set))).toBe(true)
    const [a, b] = [fields("x", 50), fields("x", 20)]
    expect(of.difference(a, b)).toEqual(difference(a, b))
    expect(of.intersection(a, b)).toEqual(intersection(a, b))
  })
})

describe("the part of a value in a set", () => {
  const value = { spec: { replicas: 1, items: [{ name: "a" }] }, status: { ready: 1, conditions: [] }, other: "x" }

  test("contains the fields on the path to its members, and complete members", () => {
    const set = setOfFields(["spec", "replicas"], ["status"], ["absent"])
    expect(partWithin(value, set)).toEqual({ spec: { replicas: 1 }, status: value.status })
  })

  test("contains complete lists", () => {
    const set = setOfPaths(["f:spec", "f:items", 'k:{"name":"a"}', "f:name"])
    expect(partWithin(value, set)).toEqual({ spec: { items: value.spec.items } })
  })

  test("contains values that are not maps unchanged", () => {
    expect(partWithin(value, setOfFields(["other", "field"]))).toEqual({ other: "x" })
  })
})
