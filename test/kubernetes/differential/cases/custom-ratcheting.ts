// What is as it was may stay as wrong as it is, when a definition becomes stricter than what was stored under it: with several
// schemas of which all, one or none has to fit, in every position.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, type RequestStep, type Scenario } from "../scenario.ts"
import { definitions, group, things } from "./things.ts"

const integer = { type: "integer" }
const pair = { type: "object", properties: { a: integer, b: integer, c: integer } }
const atLeast = (name: string, minimum: number): object => ({ properties: { [name]: { minimum } } })

/** Field → what it is to fit later, beside being a pair of numbers. */
const stricter: Readonly<Record<string, object>> = {
  one: { oneOf: [{ required: ["c"] }, atLeast("a", 5)] },
  any: { anyOf: [atLeast("a", 5), atLeast("b", 7)] },
  all: { allOf: [atLeast("a", 5), { required: ["c"] }] },
  none: { not: { properties: { a: { maximum: 3 } } } },
  both: { allOf: [{ anyOf: [{ not: { required: ["a"] } }, { required: ["c"] }] }, { oneOf: [{ required: ["c"] }] }] },
  plain: { required: ["c"], properties: { ...pair.properties, a: { type: "integer", minimum: 5 } } },
}

function schemaOf(more: Readonly<Record<string, object>>): object {
  const fields = Object.keys(stricter).map((name): [string, object] => [name, { ...pair, ...more[name] }])
  const list = { type: "array", items: { ...pair, ...more["one"] } }
  const keyed = { ...list, items: { ...list.items, required: ["a"] } }
  const keys = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"] }
  const properties = {
    ...Object.fromEntries(fields),
    list,
    keyed: { ...keyed, ...keys },
    map: { type: "object", additionalProperties: { ...pair, ...more["any"] } },
  }
  return { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties } } } }
}

const versions = (more: Readonly<Record<string, object>>): Json =>
  ({ versions: [{ name: "v1", served: true, storage: true, schema: schemaOf(more) }] }) as Json

const names = { plural: "things", kind: "Thing" }
const definition = {
  metadata: { name: `things.${group}` },
  spec: { group, scope: "Namespaced", names, ...(versions({}) as object) },
} as Json

const wrong = { a: 1, b: 1 }
const stored = {
  ...Object.fromEntries(Object.keys(stricter).map((name) => [name, wrong])),
  list: [wrong],
  keyed: [wrong],
  map: { x: wrong },
}
const thing = (name: string): Json =>
  ({ apiVersion: `${group}/v1`, kind: "Thing", metadata: { name }, spec: stored }) as Json

export function customRatchetingCases(): Scenario[] {
  return [{ name: "a custom resource was stored before its definition became strict", anyOrder: true, steps: steps() }]
}

function steps(): RequestStep[] {
  const other = { a: 2, b: 1 }
  const changes: object[] = [
    {},
    ...Object.keys(stricter).flatMap((name) => [
      { [name]: other },
      { [name]: { ...wrong, c: 1 } },
      { [name]: { a: 9 } },
    ]),
    { list: [wrong, wrong] },
    { list: [other] },
    { keyed: [wrong, other] },
    { keyed: [{ a: 1, b: 2 }] },
    { map: { x: other } },
    { map: { y: wrong } },
  ]
  return [
    post(definitions, definition),
    get(things, { untilCode: 200 }),
    post(things, thing("a")),
    patch(`${definitions}/things.${group}`, mergePatch, { spec: versions(stricter) }, { label: "PATCH definition" }),
    post(`${things}?dryRun=All`, thing("b"), { untilCode: 422, label: "POST until it is strict" }),
    ...changes.map((spec) => {
      const body = { metadata: { labels: { changed: "yes" } }, spec } as Json
      return patch(`${things}/a?dryRun=All`, mergePatch, body, { label: `PATCH ${JSON.stringify(spec)}` })
    }),
  ]
}
