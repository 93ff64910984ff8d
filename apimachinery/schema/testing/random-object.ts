// Random objects of any schema for tests, with values at the limits of their types.

import type { Json } from "../../object.ts"
import { pick, type Random } from "../../testing/random.ts"
import { int64 } from "../exact-integers.ts"
import { type JsonObject, setOwn } from "../json-object.ts"
import type { FieldSchema, Schema } from "../schema.ts"

export const oddTexts: readonly string[] = [
  "",
  "a",
  "__proto__",
  "constructor",
  "prototype",
  "hasOwnProperty",
  "é",
  "\u{1f600}",
  "\uffff",
  "\u0000",
  "\u2028",
  '"\\',
  "x".repeat(200),
  "ü".repeat(200),
  "0",
  "-1",
  "null",
  "2024-02-29T23:59:58Z",
]

const moments = ["1970-01-01T00:00:00Z", "2024-02-29T23:59:58Z", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59Z"]
const quantities = ["0", "1", "100m", "1Gi", "-5", "1500u", "12e6"]
const deepest = 12

export function randomObject(random: Random, schema: Schema, depth = 0): Json {
  switch (schema.type) {
    case "object":
      if (schema.fields === undefined) return { [pick(random, oddTexts)]: randomAny(random, depth) }
      return randomFields(random, schema.fields, depth)
    case "list":
      return times(random, depth, () => randomObject(random, schema.items ?? schema, depth + 1))
    case "map": {
      const map: JsonObject = {}
      times(random, depth, () => {
        setOwn(map, pick(random, oddTexts), randomObject(random, schema.items ?? schema, depth + 1))
        return null
      })
      return map
    }
    case "boolean":
      return random(2) === 1
    case "integer":
      return pick<Json>(random, schema.format === "int64" ? [...small, ...large] : small)
    case "number":
      return pick(random, [0, 1.5, -2.25, 1e300, 5e-324])
    case "intOrString":
      return random(2) === 1 ? pick(random, small) : pick(random, oddTexts)
    case "any":
      return (schema.name ?? "").endsWith(".JSON") ? randomAny(random, depth) : { type: "string" }
    case "string":
      return randomText(random, schema)
  }
}

/** At and beyond the limits of exact doubles. */
const large: readonly (number | bigint)[] = [-(2 ** 53) + 1, 2 ** 53 - 1, 2n ** 53n + 1n, int64.min, int64.max]
const small: readonly number[] = [0, 1, -1, 127, 128, 16_383, 16_384, 2 ** 31 - 1, -(2 ** 31)]

function randomFields(random: Random, fields: Readonly<Record<string, FieldSchema>>, depth: number): JsonObject {
  const object: JsonObject = {}
  for (const [name, field] of Object.entries(fields)) {
    // Fewer fields at greater depth, and no nested values beyond `deepest`, so that the recursion ends.
    if (random(depth > 4 ? depth : 4) !== 0 && depth > 0 && (depth > deepest || random(3) !== 0)) continue
    if (depth > deepest && (field.schema.type === "object" || field.schema.items !== undefined)) continue
    object[name] = randomObject(random, field.schema, depth + 1)
  }
  return object
}

function randomText(random: Random, { format }: Schema): string {
  switch (format) {
    case "byte":
      return Buffer.from(pick(random, oddTexts)).toString("base64")
    case "time":
      return pick(random, moments)
    case "microTime":
      return pick(random, moments).replace("Z", `.${String(random(1_000_000)).padStart(6, "0")}Z`)
    case "quantity":
      return pick(random, quantities)
    case "duration":
      return "1h0m0s"
    default:
      return pick(random, oddTexts)
  }
}

/** Any JSON except null, which most places cannot hold. */
export function randomAny(random: Random, depth = 0): Json {
  switch (random(depth > deepest ? 4 : 6)) {
    case 0:
      return pick(random, oddTexts)
    case 1:
      return pick(random, [0, -1, 1.5, 1e21, 2 ** 53 - 1, 2n ** 53n + 1n])
    case 2:
      return true
    case 3:
      return false
    case 4:
      return times(random, depth, () => randomAny(random, depth + 1))
    default: {
      const map: JsonObject = {}
      times(random, depth, () => {
        setOwn(map, pick(random, oddTexts), randomAny(random, depth + 1))
        return null
      })
      return map
    }
  }
}

function times(random: Random, depth: number, make: () => Json): Json[] {
  return Array.from({ length: random(depth > 6 ? 2 : 3) }, make)
}
