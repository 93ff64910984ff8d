// The schema of random fields at one moment (reshaped.ts): what is there, of which type, how lists and maps are merged, and what is
// defaulted. A field keeps its name, and its values may fit one schema and not the next.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../generate/objects.ts"
import { atomic, free, keyed, number, set, text } from "./schema-parts.ts"

const atomicMap = { "x-kubernetes-map-type": "atomic" }

/** Keys of lists are required, or have a default. */
function entry(random: Random, keys: readonly string[], more: JsonObject = {}): JsonObject {
  const types: JsonObject = {
    k: text,
    n: number,
    v: text,
    w: { type: "array", items: text, ...pick(random, [{}, set]) },
  }
  const given = keys.filter((key) => key !== "n" || chance(random, 0.5))
  const properties = Object.fromEntries(
    Object.entries(types)
      .filter(([name]) => keys.includes(name) || chance(random, 0.9))
      .map(([name, type]) => {
        const isDefaulted = keys.includes(name) ? !given.includes(name) : name === "v" && chance(random, 0.25)
        return [name, isDefaulted ? { ...(type as JsonObject), default: name === "n" ? 7 : "d" } : type]
      }),
  )
  return { type: "object", properties, ...(given.length === 0 ? {} : { required: given }), ...more }
}

function entries(random: Random): JsonObject {
  const keys = pick(random, [["k"], ["k"], ["n"], ["k", "n"], ["v"]])
  return pick<() => JsonObject>(random, [
    () => ({ type: "array", items: entry(random, keys), ...keyed(...keys) }),
    () => ({ type: "array", items: entry(random, keys), ...keyed(...keys) }),
    () => ({ type: "array", items: entry(random, keys, atomicMap), ...keyed(...keys) }),
    () => ({ type: "array", items: entry(random, keys, atomicMap), ...set }),
    () => ({ type: "array", items: entry(random, []), ...pick(random, [atomic, {}]) }),
    () => ({ type: "array", items: free }),
    () => ({ "x-kubernetes-preserve-unknown-fields": true }),
  ])()
}

const texts = (random: Random): JsonObject =>
  pick<JsonObject>(random, [
    { type: "array", items: text, ...set },
    { type: "array", items: text, ...atomic },
    { type: "array", items: text },
    { type: "array", items: text, ...set, default: ["a"] },
    { type: "array", items: { "x-kubernetes-int-or-string": true }, ...set },
    { "x-kubernetes-preserve-unknown-fields": true },
  ])

function struct(random: Random): JsonObject {
  const properties = { a: text, b: number, c: texts(random), d: entries(random), x: text }
  const some = Object.fromEntries(Object.entries(properties).filter(() => chance(random, 0.8)))
  return pick<JsonObject>(random, [
    { type: "object", properties: some },
    { type: "object", properties: some, ...atomicMap },
    { type: "object", properties: some, "x-kubernetes-preserve-unknown-fields": true },
    { type: "object", additionalProperties: { "x-kubernetes-preserve-unknown-fields": true } },
    free,
    { ...free, ...atomicMap },
    { "x-kubernetes-preserve-unknown-fields": true },
  ])
}

const map = (random: Random): JsonObject =>
  pick<JsonObject>(random, [
    { type: "object", additionalProperties: text },
    { type: "object", additionalProperties: text, ...atomicMap },
    { type: "object", additionalProperties: text, default: { a: "1" } },
    { type: "object", properties: { a: text, b: text } },
    { type: "object", properties: { a: { ...text, default: "z" } } },
    free,
  ])

const scalar = (random: Random): JsonObject =>
  pick<JsonObject>(random, [
    number,
    text,
    { "x-kubernetes-int-or-string": true },
    { ...number, default: 5 },
    { ...number, nullable: true },
    { "x-kubernetes-preserve-unknown-fields": true },
  ])

const fields: Readonly<Record<string, (random: Random) => JsonObject>> = {
  replicas: () => number,
  count: () => number,
  list: entries,
  texts,
  map,
  struct,
  structs: (random) => ({ type: "object", additionalProperties: struct(random) }),
  scalar,
}

export function versionSchema(random: Random): JsonObject {
  const properties = Object.fromEntries(
    Object.entries(fields)
      .filter(() => chance(random, 0.88))
      .map(([name, make]) => [name, make(random)]),
  )
  const spec = {
    type: "object",
    properties,
    ...pick<JsonObject>(random, [{}, {}, { "x-kubernetes-preserve-unknown-fields": true }, atomicMap]),
  }
  const status = {
    type: "object",
    properties: { replicas: number, phase: text, list: entries(random) },
    ...pick<JsonObject>(random, [{}, {}, { "x-kubernetes-preserve-unknown-fields": true }]),
  }
  return {
    type: "object",
    properties: { spec, ...(chance(random, 0.9) ? { status } : {}) },
    ...pick<JsonObject>(random, [{}, {}, {}, { "x-kubernetes-preserve-unknown-fields": true }]),
  }
}

const some = <T>(random: Random, items: readonly T[]): T[] => items.filter(() => chance(random, 0.5))

const listOf = (random: Random): Json =>
  some(random, [
    { k: "a", n: 1 },
    { k: "a", n: 2, v: pick(random, ["x", "y"]) },
    { k: "b", n: 1, v: pick(random, ["x", "z"]), w: some(random, ["p", "q"]) },
    { k: "c", ...(chance(random, 0.5) ? { v: "c" } : {}) },
  ] as Json[])

const textsOf = (random: Random): Json => some(random, ["a", "b", "c"])

const structOf = (random: Random): JsonObject => ({
  ...(chance(random, 0.5) ? { a: pick(random, ["1", "2"]) } : {}),
  ...(chance(random, 0.5) ? { b: random(3) } : {}),
  ...(chance(random, 0.4) ? { c: textsOf(random) } : {}),
  ...(chance(random, 0.4) ? { d: listOf(random) } : {}),
})

export const values: Readonly<Record<string, (random: Random) => Json>> = {
  replicas: (random) => random(4),
  count: (random) => random(4),
  list: listOf,
  texts: textsOf,
  map: (random) => Object.fromEntries(some(random, ["a", "b", "c"]).map((key) => [key, pick(random, ["1", "2"])])),
  struct: structOf,
  structs: (random) => Object.fromEntries(some(random, ["x", "y"]).map((key) => [key, structOf(random)])),
  scalar: (random) => pick<Json>(random, [1, 2, "1"]),
}

export function specOf(random: Random): JsonObject {
  return Object.fromEntries(
    Object.entries(values)
      .filter(() => chance(random, 0.4))
      .map(([name, make]) => [name, make(random)]),
  )
}

export const statusOf = (random: Random): JsonObject => ({
  ...(chance(random, 0.6) ? { replicas: random(3) } : {}),
  ...(chance(random, 0.6) ? { phase: pick(random, ["A", "B"]) } : {}),
  ...(chance(random, 0.4) ? { list: listOf(random) } : {}),
})
