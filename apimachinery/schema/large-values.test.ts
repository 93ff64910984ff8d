import { describe, expect, test } from "vitest"
import type { Json } from "../object.ts"
import { StatusError } from "../status.ts"
import { atOnce, type Steps } from "../steps.ts"
import { createRandom, pick, type Random, seedOf } from "../testing/random.ts"
import { decodeObject, decodingObject, writeZeros, writingZeros } from "./decode/decode.ts"
import { applyDefaults, applyingDefaults } from "./defaults.ts"
import { schemaOf } from "./facts.ts"
import type { JsonObject } from "./json-object.ts"
import { isLarge, LargeValues, levelsInSteps } from "./large-values.ts"
import type { Schema } from "./schema.ts"
import { randomObject } from "./testing/random-object.ts"

const kinds = [
  { group: "", version: "v1", kind: "Pod" },
  { group: "apps", version: "v1", kind: "Deployment" },
  { group: "", version: "v1", kind: "ConfigMap" },
  { group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRole" },
] as const

const schemas = kinds.map((kind): readonly [string, Schema] => [kind.kind, schemaOf(kind) as Schema])
const seed = seedOf()
const rounds = 3

/** Some lists and maps have very many members. */
function largeObject(random: Random, schema: Schema): JsonObject {
  const object = randomObject(random, schema) as JsonObject
  const grow = (schemaHere: Schema, value: Json, depth: number): void => {
    if (typeof value !== "object" || value === null || depth > 8) return
    const { fields, items } = schemaHere
    if (Array.isArray(value)) {
      if (items === undefined) return
      for (const item of value) grow(items, item, depth + 1)
      if (random(8) > 0) return
      for (let count = random(1000); count > 0; count--) value.push(randomObject(random, items, 10))
      // Large values of parts that are too short to be large are what a wrong count misses.
      for (const item of value.slice(-10)) grow(items, item, depth + 1)
    } else if (schemaHere.type === "map" && items !== undefined && random(2) === 0) {
      for (let count = random(3000); count > 0; count--) value[`k${count}`] = randomObject(random, items, 10)
    } else {
      for (const [key, field] of Object.entries(fields ?? {}))
        if (Object.hasOwn(value, key)) grow(field.schema, value[key] as Json, depth + 1)
    }
  }
  grow(schema, object, 0)
  return object
}

/** A null, an unknown field or a value of another type here and there. */
function spoil(random: Random, value: Json, chance: number): void {
  if (typeof value !== "object" || value === null) return
  const values = value as JsonObject
  for (const key of Object.keys(values)) {
    if (random(chance) === 0) values[key] = pick<Json>(random, [null, 1, "x", [], {}, true, [null], { unknown: 1 }])
    else spoil(random, values[key] as Json, chance)
  }
  if (!Array.isArray(value) && random(chance) === 0) values["unknown"] = 1
}

function outcome(object: JsonObject, run: () => unknown): string {
  try {
    return JSON.stringify([run(), object])
  } catch (error) {
    if (error instanceof StatusError) return JSON.stringify([error.status, object])
    throw error
  }
}

function stepsOf(steps: Steps<unknown>): number {
  let count = 1
  while (steps.next().done !== true) count++
  return count
}

describe.each(schemas)(`a large %s in steps is as at once (SEED=${seed}):`, (_, schema) => {
  const objects = (): JsonObject[] => {
    const random = createRandom(seed)
    return Array.from({ length: rounds }, () => largeObject(random, schema))
  }

  test.each(["json", "memory"] as const)("decoded from %s", (source) => {
    const random = createRandom(seed)
    for (const [index, object] of objects().entries()) {
      const { apiVersion = "v1", kind = "A" } = object // texts, before an object is decoded
      if (index % 3 > 0) spoil(random, object, index % 3 === 1 ? 20 : 5000)
      Object.assign(object, { apiVersion, kind })
      const copy = structuredClone(object)
      const stepwise = outcome(copy, () => atOnce(decodingObject(schema, copy, true, source)))
      expect(stepwise).toBe(outcome(object, () => decodeObject(schema, object, true, source)))
    }
  })

  test("with defaults", () => {
    for (const object of objects()) {
      const copy = structuredClone(object)
      atOnce(applyingDefaults(schema, copy))
      applyDefaults(schema, object)
      expect(JSON.stringify(copy)).toBe(JSON.stringify(object))
    }
  })

  test.each([true, false])("with zero values (stored: %s)", (isStored) => {
    for (const object of objects()) {
      const copy = structuredClone(object)
      atOnce(writingZeros(schema, copy, isStored))
      writeZeros(schema, object, isStored)
      expect(JSON.stringify(copy)).toBe(JSON.stringify(object))
    }
  })
})

test("a pod of many volumes takes steps in proportion to their number", () => {
  const volumes = Array.from({ length: 10_000 }, (_, index) => ({ name: `v${index}`, emptyDir: {} }))
  const pod = { metadata: { name: "a" }, spec: { containers: [{ name: "a", image: "a" }], volumes } } as unknown as Json
  const [[, schema]] = schemas as [readonly [string, Schema]]
  expect(stepsOf(decodingObject(schema, pod, true))).toBeGreaterThan(20)
  expect(stepsOf(applyingDefaults(schema, pod))).toBeGreaterThan(20)
  expect(stepsOf(writingZeros(schema, pod))).toBeGreaterThan(20)
})

test("a map of many keys takes steps in proportion to their number", () => {
  const data = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, "a"]))
  const schema = schemaOf(kinds[2]) as Schema
  expect(stepsOf(decodingObject(schema, { data }, true))).toBeGreaterThan(5)
})

/** The steps of all walks. */
function stepsOfWalks(schema: Schema, object: Json): number[] {
  const walks = [decodingObject(schema, object, true), applyingDefaults(schema, object), writingZeros(schema, object)]
  return walks.map(stepsOf)
}

test("short lists in a short list take steps in proportion to the number of all values", () => {
  const sources = Array.from({ length: 50 }, (_, index) => ({ configMap: { name: `c${index}` } }))
  const volumes = Array.from({ length: 300 }, (_, index) => ({ name: `v${index}`, projected: { sources } }))
  const spec = { containers: [{ name: "a", image: "a" }], volumes }
  const pod = structuredClone({ metadata: { name: "a" }, spec }) as unknown as Json
  const [[, schema]] = schemas as [readonly [string, Schema]]
  for (const steps of stepsOfWalks(schema, pod)) expect(steps).toBeGreaterThan(20)
})

/** Schemas nested so deep, each above a list of a thousand; all of them are large. */
function chain(depth: number): JsonObject {
  let inner: JsonObject = { required: Array.from({ length: 1000 }, () => "") }
  for (let level = 0; level < depth; level++) inner = { properties: { a: inner, b: {} } }
  return inner
}

test("deep values take steps in proportion to their number, not to the depth", () => {
  const definition = { group: "apiextensions.k8s.io", version: "v1", kind: "CustomResourceDefinition" }
  const schema = schemaOf(definition) as Schema
  const properties = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index}`, chain(480)]))
  const versions = [{ name: "v1", schema: { openAPIV3Schema: { properties } } }]
  const object = structuredClone({ metadata: { name: "a" }, spec: { versions } }) as unknown as JsonObject
  const copy = structuredClone(object)
  for (const steps of stepsOfWalks(schema, object)) expect(steps).toBeLessThan(100)
  decodeObject(schema, copy, true)
  applyDefaults(schema, copy)
  writeZeros(schema, copy)
  expect(JSON.stringify(object)).toBe(JSON.stringify(copy))
})

test("a walk in steps goes a limited number of levels deep", () => {
  const any: Schema = { type: "map" }
  any.items = any
  const large = new LargeValues(() => true)
  let deepest = 0
  const walking = (value: JsonObject, depth: number): Steps<void> => {
    deepest = Math.max(deepest, depth)
    return large.walking(any, value, {
      walk: () => undefined,
      walking: (key) => walking(value[key] as JsonObject, depth + 1),
    })
  }
  atOnce(walking(chain(2000), 1))
  expect(deepest).toBe(levelsInSteps)
})

test("a small object takes one step", () => {
  const [[, schema]] = schemas as [readonly [string, Schema]]
  const pod = { metadata: { name: "a" }, spec: { containers: [{ name: "a" }] } } as unknown as Json
  expect(stepsOf(decodingObject(schema, pod, true))).toBe(1)
  expect(stepsOf(applyingDefaults(schema, pod))).toBe(1)
  expect(stepsOf(writingZeros(schema, pod))).toBe(1)
})

test("a value is large if there are a thousand values in it, itself included", () => {
  const list = (length: number): Json => Array.from({ length }, () => ({ a: 1 }))
  expect([list(0), list(499), list(500), { a: { b: list(498) } }, { a: { b: list(499) } }].map(isLarge)).toEqual([
    false,
    false,
    true,
    false,
    true,
  ])
})
