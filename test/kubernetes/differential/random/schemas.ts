// Random schemas of custom resources: with every keyword, CEL rules, defaults and list types; at will, with faults.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../generate/objects.ts"
import { oddValue } from "./values.ts"

const deepest = 3

const fields = ["a", "b", "c", "list", "name"]

/** `faults`: the frequency of invalid keywords. */
export function randomSchema(random: Random, depth: number, faults: number): JsonObject {
  const schema = sound(random, depth, faults)
  if (!chance(random, faults * 3)) return schema
  return { ...schema, ...pick(random, odd)(random) }
}

function sound(random: Random, depth: number, faults: number): JsonObject {
  if (depth >= deepest) return scalar(random)
  switch (random(8)) {
    case 0:
    case 1:
    case 2:
      return objectSchema(random, depth, faults)
    case 3:
    case 4:
      return listSchema(random, depth, faults)
    case 5:
      return { type: "object", additionalProperties: randomSchema(random, depth + 1, faults) }
    default:
      return scalar(random)
  }
}

export function objectSchema(random: Random, depth: number, faults: number): JsonObject {
  const names = fields.filter(() => chance(random, 0.6))
  const properties = Object.fromEntries(names.map((name) => [name, randomSchema(random, depth + 1, faults)]))
  const required = names.filter(() => chance(random, 0.25))
  return {
    type: "object",
    properties,
    ...(required.length === 0 ? {} : { required }),
    ...(chance(random, 0.15) ? { "x-kubernetes-preserve-unknown-fields": true } : {}),
    ...(chance(random, 0.2) ? { maxProperties: 3 } : {}),
    ...(chance(random, 0.15) ? { nullable: true } : {}),
    ...(chance(random, 0.15) ? { "x-kubernetes-map-type": "atomic" } : {}),
    ...(names.length > 0 && chance(random, 0.3) ? ruleOf(random, names) : {}),
  }
}

function ruleOf(random: Random, names: readonly string[]): JsonObject {
  const name = pick(random, names)
  const rule = pick(random, [`has(self.${name})`, `!has(self.${name})`, `has(self.${name}) || true`])
  const more = pick<JsonObject>(random, [
    {},
    { message: "not so" },
    { messageExpression: "'not ' + 'so'" },
    { reason: "FieldValueForbidden" },
    { fieldPath: `.${name}` },
  ])
  return { "x-kubernetes-validations": [{ rule, ...more }] }
}

function listSchema(random: Random, depth: number, faults: number): JsonObject {
  switch (random(3)) {
    case 0:
      return {
        type: "array",
        items: scalar(random),
        maxItems: 5,
        "x-kubernetes-list-type": pick(random, ["set", "atomic"]),
      }
    case 1:
      return {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        items: {
          type: "object",
          required: ["name"],
          properties: { name: { type: "string" }, a: randomSchema(random, deepest, faults) },
        },
      }
    default:
      return {
        type: "array",
        items: randomSchema(random, depth + 1, faults),
        ...(chance(random, 0.3) ? { minItems: 1 } : {}),
      }
  }
}

function scalar(random: Random): JsonObject {
  return pick<JsonObject>(random, [
    { type: "string" },
    { type: "string", default: "red" },
    { type: "string", enum: ["red", "green"] },
    { type: "string", enum: ["red", "green"], default: "green", nullable: true },
    { type: "string", minLength: 2, maxLength: 5 },
    { type: "string", pattern: "^[a-z]+$" },
    {
      type: "string",
      format: pick(random, ["date-time", "date", "ipv4", "cidr", "uuid", "byte", "email", "uri", "bogus"]),
    },
    {
      type: "string",
      maxLength: 20,
      "x-kubernetes-validations": [{ rule: "self.startsWith('r')", message: "must begin with r" }],
    },
    { type: "string", maxLength: 20, "x-kubernetes-validations": [{ rule: "self == oldSelf" }] },
    { type: "integer" },
    { type: "integer", minimum: 0, maximum: 10, default: 3 },
    { type: "integer", format: "int32", minimum: 0, exclusiveMinimum: true },
    { type: "integer", "x-kubernetes-validations": [{ rule: "self % 2 == 0" }] },
    { type: "number", multipleOf: 0.5 },
    { type: "boolean", default: false },
    { "x-kubernetes-int-or-string": true },
    { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  ])
}

/** Keywords that are rarely valid. */
const odd: readonly ((random: Random) => JsonObject)[] = [
  (random) => ({ type: pick(random, ["bogus", "null", "", "integer", "array", "object"]) }),
  (random) => ({ default: oddValue(random) }),
  (random) => ({ pattern: pick(random, ["(", "a{2,1}", "(?=a)", "[[:alpha:]]"]) }),
  () => ({ additionalProperties: false }),
  () => ({ additionalProperties: { type: "string" }, properties: { a: { type: "string" } } }),
  () => ({ uniqueItems: true }),
  (random) => ({ "x-kubernetes-list-type": pick(random, ["bogus", "map", "set", "atomic"]) }),
  () => ({ "x-kubernetes-list-map-keys": ["name", "absent"] }),
  (random) => ({ "x-kubernetes-map-type": pick(random, ["bogus", "granular"]) }),
  () => ({ "x-kubernetes-int-or-string": true }),
  () => ({ "x-kubernetes-embedded-resource": true }),
  () => ({ "x-kubernetes-preserve-unknown-fields": false }),
  (random) => ({
    "x-kubernetes-validations": [
      { rule: pick(random, ["", "self.bogus", "1", "self == self", "true ||", "oldSelf == self", "has(self.a)"]) },
    ],
  }),
  (random) => ({
    "x-kubernetes-validations": [{ rule: "true", messageExpression: pick(random, ["1", "self.", "''"]) }],
  }),
  (random) => ({
    "x-kubernetes-validations": [
      {
        rule: "true",
        reason: pick(random, ["Bogus", "FieldValueRequired"]),
        fieldPath: pick(random, [".a", "a", ".absent", ""]),
      },
    ],
  }),
  () => ({ allOf: [{ type: "string" }] }),
  () => ({ anyOf: [{ required: ["a"] }, { properties: { a: { minLength: 1 } } }] }),
  () => ({ not: { default: 1 } }),
  () => ({ oneOf: [{ nullable: true }] }),
  () => ({ $ref: "#/x" }),
  () => ({ enum: [] }),
  () => ({ enum: ["a", 1, null] }),
  () => ({ minimum: 5, maximum: 1 }),
  () => ({ maxLength: -1 }),
  () => ({ multipleOf: 0 }),
  () => ({ nullable: true, default: null }),
  () => ({ required: ["a", "a"] }),
  () => ({ definitions: {} }),
  () => ({ id: "x", externalDocs: { url: "x" }, example: 1 }),
]
