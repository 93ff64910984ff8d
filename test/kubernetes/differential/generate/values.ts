// Values to test in a field, by its type: valid, invalid, and of another type.

import type { Json } from "../../../../apimachinery/object.ts"
import { shortName } from "./fields.ts"
import { sampleOfType } from "./samples.ts"
import type { Schema } from "../../../../apimachinery/schema/schema.ts"

const longText = "x".repeat(260)

const byFormat: Readonly<Record<string, readonly Json[]>> = {
  byte: ["aGVsbG8=", "no base64!"],
  time: ["2024-01-02T03:04:05Z", "yesterday"],
  microTime: ["2024-01-02T03:04:05.678901Z", "yesterday"],
  duration: ["1m30s", "soon"],
  quantity: ["1", "1.5", "-1", "1Gi", "lots", 3],
}

/** `full`: includes values that the decoder rejects. */
export function valuesFor(schema: Schema, full: boolean): Json[] {
  const wrong = full ? wrongTypes(schema) : []
  return [...plausible(schema), ...wrong]
}

function plausible(schema: Schema): Json[] {
  const values = schema.rules?.enum
  if (values !== undefined) return [...values, "Bogus"]
  const known = schema.format === undefined ? undefined : byFormat[schema.format]
  if (known !== undefined) return [...known]
  switch (schema.type) {
    case "string":
      return ["a-word", "", "Not valid!", longText]
    case "integer":
      return schema.format === "int64" ? [0, 1, -1, 70_000, 2n ** 63n - 1n] : [0, 1, -1, 70_000]
    case "number":
      return [0, 1.5, -1]
    case "boolean":
      return [true, false]
    case "intOrString":
      return [1, -1, "50%", "150%", "a word"]
    case "any":
      return []
    case "list":
      return listValues(schema)
    case "map":
      return mapValues(schema)
    case "object":
      return objectValues(schema)
  }
}

function listValues(schema: Schema): Json[] {
  const item = itemOf(schema.items)
  if (item === undefined) return [[]]
  return schema.items?.type === "string" && schema.items.rules === undefined
    ? [[], ["a-word"], ["a-word", "a-word"], ["", "Not valid!"]]
    : [[], [item], [item, item]]
}

function mapValues(schema: Schema): Json[] {
  const { items } = schema
  if (items?.format === "quantity") {
    return [
      {},
      { cpu: "1", memory: "1Gi", "example.com/thing": "1" },
      { "bad key!": "1" },
      { storage: "-1", cpu: "0.0001" },
    ]
  }
  if (items?.type !== "string") return [{}]
  return [{}, { key: "value", "example.com/key": "" }, { "bad key!": "value" }, { key: "bad value!" }]
}

function objectValues(schema: Schema): Json[] {
  const sample = sampleOfType(shortName(schema))
  return Object.keys(sample).length === 0 ? [{}] : [{}, sample]
}

function itemOf(schema: Schema | undefined): Json | undefined {
  if (schema === undefined) return undefined
  if (schema.type === "object") return sampleOfType(shortName(schema))
  return plausible(schema)[0]
}

function wrongTypes(schema: Schema): Json[] {
  switch (schema.type) {
    case "string":
      return [7]
    case "integer":
      return ["7", 1.5, 3_000_000_000_000, 2n ** 63n]
    case "number":
      return ["7"]
    case "boolean":
      return ["true"]
    case "intOrString":
      return [true]
    case "list":
      return [{ a: 1 }, null]
    case "map":
    case "object":
      return [["a"], null]
    case "any":
      return []
  }
}
