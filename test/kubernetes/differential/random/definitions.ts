// Random CustomResourceDefinitions, and custom resources of them: valid and invalid ones.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../generate/objects.ts"
import { definitionOf, definitions } from "../cases/things.ts"
import { asTable } from "../generate/life-scenarios.ts"
import { applyPatch, get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"
import { objectSchema, randomSchema } from "./schemas.ts"
import { titled } from "./titled.ts"
import { isJsonObject, oddValue } from "./values.ts"

const group = "r@{id}.example.com"
const things = `/apis/${group}/v1/namespaces/@{ns}/things`
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
