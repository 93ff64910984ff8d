// Random CustomResourceDefinitions, and custom resources of them: schemas with every keyword, CEL rules, defaults and list types;
// valid and invalid values.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../generate/objects.ts"
import { definitionOf, definitions } from "../cases/things.ts"
import { asTable } from "../generate/life-scenarios.ts"
import { applyPatch, get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"
import { titled } from "./titled.ts"
import { isJsonObject, oddValue } from "./values.ts"

const group = "r@{id}.example.com"
const things = `/apis/${group}/v1/namespaces/@{ns}/things`
const deepest = 3

/** Definitions, most of them with a fault: all as dry runs. */
export function randomDefinitionScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const steps = Array.from({ length: 16 }, (_, index) => {
    const spec = randomSchema(random, 0, 0.08)
    const version = chance(random, 0.3) ? oddVersion(random) : {}
    return post(`${definitions}?dryRun=All`, definition({ type: "object", properties: { spec } }, version), {
      label: `${index} POST definition`,
    })
  })
  return { name: `a definition at random, seed ${seed}`, steps, anyOrder: true, byChance: true }
}

/** A valid definition, with valid and invalid objects. */
export function randomCustomResourceScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const schema: JsonObject = { type: "object", properties: { spec: objectSchema(random, 0, 0) } }
  const spec = (): Json => valueOf(random, (schema["properties"] as JsonObject)["spec"] as JsonObject)
  const thing = (name: string): JsonObject => ({
    apiVersion: `${group}/v1`,
    kind: "Thing",
    metadata: { name },
    spec: spec(),
  })
  const dry = (): string => pick(random, ["?dryRun=All", "?dryRun=All&fieldValidation=Strict", "?fieldValidation=Warn"])
  const choices: readonly (() => RequestStep)[] = [
    () => post(`${things}?dryRun=All`, thing("b")),
    () => post(`${things}${dry()}`, thing("a")),
    () => patch(`${things}/a${dry()}`, mergePatch, { spec: spec() }),
    () =>
      patch(
        `${things}/a${dry()}&fieldManager=${pick(random, ["one", "two"])}&force=${random(2) === 0}`,
        applyPatch,
        thing("a"),
      ),
    () => put(`${things}/a?dryRun=All`, thing("a")),
    () => get(`${things}/a`),
    () => get(things, { headers: asTable }),
    () => remove(`${things}/a`),
  ]
  const steps = Array.from({ length: 24 }, () => pick(random, choices)())
  return {
    name: `a custom resource at random, seed ${seed}`,
    steps: [
      { ...post(definitions, definition(schema, {})), label: "POST definition" },
      get(things, { untilCode: 200, label: "LIST when served" }),
      ...titled(steps),
    ],
    anyOrder: true,
    byChance: true,
  }
}

const definition = (schema: Json, version: JsonObject): Json =>
  definitionOf(group, {}, { schema: { openAPIV3Schema: schema }, ...version })

function oddVersion(random: Random): JsonObject {
  return pick<JsonObject>(random, [
    {
      additionalPrinterColumns: [
        {
          name: "A",
          type: pick(random, ["string", "date", "bogus"]),
          jsonPath: pick(random, [".spec.a", "spec", ".spec[", ""]),
        },
      ],
    },
    {
      subresources: {
        status: {},
        scale: {
          specReplicasPath: pick(random, [".spec.a", ".status.a", "", ".spec.a[0]"]),
          statusReplicasPath: ".status.b",
        },
      },
    },
    { selectableFields: [{ jsonPath: pick(random, [".spec.a", ".metadata.name", ".spec.list", ""]) }] },
    { deprecated: true, deprecationWarning: pick(random, ["old", "", "x".repeat(257), "ü\n"]) },
    { deprecationWarning: "old" },
    { name: pick(random, ["v2", "V1", "", "x".repeat(64)]) },
    { storage: false },
    { served: false },
  ])
}

const fields = ["a", "b", "c", "list", "name"]

/** `faults`: the frequency of invalid keywords. */
function randomSchema(random: Random, depth: number, faults: number): JsonObject {
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

function objectSchema(random: Random, depth: number, faults: number): JsonObject {
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

/** A value that mostly matches the schema. */
function valueOf(random: Random, schema: JsonObject): Json {
  if (chance(random, 0.06)) return oddValue(random)
  if (schema["nullable"] === true && chance(random, 0.2)) return null
  const values = schema["enum"]
  if (Array.isArray(values) && values.length > 0 && chance(random, 0.8)) return pick(random, values)
  switch (schema["type"]) {
    case "object":
      return objectOf(random, schema)
    case "array": {
      const { items } = schema
      return Array.from({ length: random(3) }, () => (isJsonObject(items) ? valueOf(random, items) : "x"))
    }
    case "integer":
      return pick(random, [0, 1, 2, 4, 11, -1, 2 ** 31])
    case "number":
      return pick(random, [0.5, 1, 0.3, -2])
    case "boolean":
      return random(2) === 0
    case "string":
      return pick(random, [
        "red",
        "green",
        "r",
        "rot",
        "Red",
        "",
        "toolong",
        "2024-01-02T03:04:05Z",
        "10.0.0.1",
        "aGk=",
        "ü",
      ])
    default:
      return pick<Json>(random, [1, "http", "50%", 1.5, true])
  }
}

function objectOf(random: Random, { properties, additionalProperties }: JsonObject): JsonObject {
  const object: JsonObject = {}
  if (isJsonObject(properties)) {
    for (const [name, field] of Object.entries(properties)) {
      if (chance(random, 0.7) && isJsonObject(field)) object[name] = valueOf(random, field)
    }
  }
  if (isJsonObject(additionalProperties)) {
    for (let count = random(3); count > 0; count--)
      object[pick(random, ["k", "l", "Key!"])] = valueOf(random, additionalProperties)
  }
  if (chance(random, 0.1)) object["bogus"] = oddValue(random)
  return object
}
