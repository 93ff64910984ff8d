// Rules about lists of type set and map, also with duplicates.

import type { Json } from "../../../../apimachinery/object.ts"
import { post, type RequestStep, type Scenario } from "../scenario.ts"
import { number, rule, ruled, text } from "./ruled-schemas.ts"
import { definedWith } from "./things.ts"

export function customListRuleCases(): Scenario[] {
  return [{ name: "a definition has rules about sets and maps that are not unique", anyOrder: true, steps: repeated() }]
}

const group = "rl@{id}.example.com"
const things = `/apis/${group}/v1/namespaces/@{ns}/things`

function tried(specs: readonly Json[]): RequestStep[] {
  return specs.map((spec) => {
    const thing = { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" }, spec }
    return post(`${things}?dryRun=All`, thing, { label: `POST ${JSON.stringify(spec)}` })
  })
}

function repeated(): RequestStep[] {
  const short = { ...text, maxLength: 3 }
  const set = { type: "array", "x-kubernetes-list-type": "set", items: short, maxItems: 10 }
  const item = { type: "object", properties: { name: short, value: short }, required: ["name"] }
  const map = { type: "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], items: item }
  const reservedItem = { ...item, properties: { name: short, namespace: short }, required: ["name", "namespace"] }
  const told = (expression: string): object => rule("false", { messageExpression: `string(${expression})` })
  const size = "(self + ['b']).size()"
  const fields = {
    grows: ruled(set, told(size), told(size), told("self + ['b'] == ['b', 'a']")),
    twice: ruled(set, told(`${size} == ${size}`), told("self == ['b', 'b']"), told("self + ['c'] == self + ['c']")),
    equal: ruled(
      set,
      told("self == ['a', 'b']"),
      told("self == ['b', 'a']"),
      told("['b', 'a'] == self"),
      told("self + ['z'] == ['z'] + self"),
    ),
    numbers: ruled(
      { ...set, items: { type: "number" } },
      told("self == [1.0, 2.0]"),
      told("(self + [1.5]).size()"),
      told("self == self"),
    ),
    keyed: ruled(
      { ...map, maxItems: 10 },
      told("(self + self).size()"),
      told("(self + self)[0].value"),
      told("(self + self)[1].name"),
      told("self == self + self"),
      told("self == [self[0], self[0]]"),
    ),
    keyedTwice: ruled(
      {
        ...map,
        "x-kubernetes-list-map-keys": ["name", "value"],
        items: { ...item, required: ["name", "value"] },
        maxItems: 10,
      },
      told("(self + self).size()"),
      told("self == self + self"),
    ),
    reserved: ruled(
      { ...map, "x-kubernetes-list-map-keys": ["namespace"], items: reservedItem, maxItems: 10 },
      told("self == self"),
      told("(self + self).size()"),
      told("(self + self)[0].name"),
    ),
    reservedBeside: ruled(
      { ...map, "x-kubernetes-list-map-keys": ["name", "namespace"], items: reservedItem, maxItems: 10 },
      told("self == self"),
      told("(self + self).size()"),
    ),
    times: ruled({ ...set, items: { ...short, format: "date" } }, told("self == self"), told("(self + self).size()")),
    whole: ruled({ ...set, items: number }, told("self == self"), told("(self + [1]).size()"), told("self == [1, 2]")),
    either: ruled(
      { ...set, items: { "x-kubernetes-int-or-string": true, maxLength: 3 } },
      told("self == self"),
      told("(self + self).size()"),
    ),
    plain: ruled(
      { type: "array", items: short, maxItems: 10 },
      told("(self + ['b']).size()"),
      told("self + self == self"),
      told("[] + self == self"),
    ),
  }
  return [
    ...definedWith(group, fields),
    ...tried([
      { grows: ["a"] },
      { grows: ["a", "a"] },
      { grows: ["b"] },
      { grows: [] },
      { twice: ["a"] },
      { twice: ["a", "b"] },
      { twice: ["b", "b"] },
      { equal: ["a", "b"] },
      { equal: ["a", "a"] },
      { numbers: [1, 2] },
      { numbers: [1, 1] },
      { numbers: [2, 1] },
      { keyed: [{ name: "a", value: "1" }] },
      {
        keyed: [
          { name: "a", value: "1" },
          { name: "a", value: "2" },
        ],
      },
      { keyed: [{ name: "a", value: "1" }, { name: "b" }, { name: "a", value: "1" }] },
      {
        keyedTwice: [
          { name: "a", value: "1" },
          { name: "a", value: "1" },
        ],
      },
      {
        keyedTwice: [
          { name: "a", value: "1" },
          { name: "a", value: "2" },
        ],
      },
      ...[
        [["x", "a"]],
        [
          ["x", "a"],
          ["y", "b"],
        ],
        [
          ["x", "a"],
          ["x", "b"],
        ],
      ].flatMap((items) => {
        const list = items.map(([name = "", namespace = ""]) => ({ name, namespace }))
        return [{ reserved: list }, { reservedBeside: list }]
      }),
      { numbers: [1.5, 2] },
      { numbers: [1.5, 2.5] },
      { times: ["2020-01-01"] },
      { whole: [1, 2] },
      { whole: [2, 1, 3] },
      { either: [1, "a"] },
      { either: ["1"] },
      { plain: ["a"] },
      { plain: [] },
    ]),
  ]
}
