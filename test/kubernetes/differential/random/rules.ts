// Random rules of custom resources, in definitions that are only tried: what upstream says of each rule, and of its cost.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import { definitionOf, definitions } from "../cases/things.ts"
import type { JsonObject } from "../generate/objects.ts"
import { post, type Scenario } from "../scenario.ts"
import { expression, type Named, wantedTypes } from "./expressions.ts"

const group = "u@{id}.example.com"
const triedCount = 16
const ruleCount = 3

/** Types in CEL, and schemas of them. */
const fields: Readonly<Record<string, { type: string; schemas: readonly JsonObject[] }>> = {
  s: {
    type: "string",
    schemas: [
      { type: "string" },
      { type: "string", maxLength: 12 },
      { type: "string", enum: ["a", "Abc", "ü€", "1Gi"] },
      { type: "string", format: "uuid" },
    ],
  },
  i: {
    type: "int",
    schemas: [{ type: "integer" }, { type: "integer", format: "int32" }, { type: "integer", minimum: 0 }],
  },
  d: {
    type: "double",
    schemas: [{ type: "number" }, { type: "number", format: "float" }],
  },
  b: { type: "bool", schemas: [{ type: "boolean" }] },
  y: { type: "bytes", schemas: [{ type: "string", format: "byte" }] },
  t: {
    type: "timestamp",
    schemas: [
      { type: "string", format: "date-time" },
      { type: "string", format: "date" },
    ],
  },
  u: { type: "duration", schemas: [{ type: "string", format: "duration" }] },
  l: {
    type: "list(string)",
    schemas: [
      { type: "array", items: { type: "string", maxLength: 5 }, maxItems: 4 },
      { type: "array", items: { type: "string" } },
      { type: "array", items: { type: "string", maxLength: 5 }, maxItems: 4, "x-kubernetes-list-type": "set" },
    ],
  },
  n: {
    type: "list(int)",
    schemas: [
      { type: "array", items: { type: "integer" }, maxItems: 4 },
      { type: "array", items: { type: "integer" } },
    ],
  },
  m: {
    type: "map(string, int)",
    schemas: [
      { type: "object", additionalProperties: { type: "integer" }, maxProperties: 3 },
      { type: "object", additionalProperties: { type: "integer" } },
    ],
  },
  ll: {
    type: "list(list(int))",
    schemas: [{ type: "array", maxItems: 3, items: { type: "array", maxItems: 3, items: { type: "integer" } } }],
  },
}

export function randomRuleScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const steps = Array.from({ length: triedCount }, (_, index) =>
    post(`${definitions}?dryRun=All`, definition(tried(random)), { label: `${index} POST definition` }),
  )
  return { name: `rules of definitions at random, seed ${seed}`, steps, anyOrder: true, byChance: true }
}

const definition = (spec: JsonObject): Json =>
  definitionOf(group, {}, { schema: { openAPIV3Schema: { type: "object", properties: { spec } } } })

/** What upstream declares for policies only, in words of custom resources. */
function forSelf(text: string, standIn: string): string {
  return text
    .replaceAll(/has\(object\.data\.\w+\)/g, "true")
    .replaceAll("'s' in object.data", "true")
    .replaceAll(/object\.data\.\w+|object\.metadata\.name|request\.operation|request\.kind\.kind/g, standIn)
    .replaceAll(/object\.data|object\.metadata\.labels/g, "{'a': 'b'}")
}

function ruleOf(random: Random, type: string, scope: readonly Named[]): string {
  for (;;) {
    const text = forSelf(expression(random, type, scope), "'a'")
    if (!text.includes("authorizer")) return text
  }
}

/** Rules of an object, and of its fields, which have limits or none. */
function tried(random: Random): JsonObject {
  const known = Object.entries(fields).filter(() => chance(random, 0.8))
  const properties = Object.fromEntries(known.map(([name, { schemas }]) => [name, pick(random, schemas)]))
  const scope = known.flatMap(([name, { type }]): Named[] => [
    { name: `self.${name}`, type },
    ...(chance(random, 0.1) ? [{ name: `oldSelf.${name}`, type }] : []),
  ])
  const rules = (of: readonly Named[]): Json =>
    Array.from({ length: ruleCount }, () => ({
      rule: ruleOf(random, chance(random, 0.95) ? "bool" : pick(random, wantedTypes), of),
      ...(chance(random, 0.3) ? { messageExpression: ruleOf(random, "string", of) } : {}),
    }))
  const [name, { type }] = pick(random, known)
  const ruled = { ...properties[name], "x-kubernetes-validations": rules([{ name: "self", type }]) }
  return {
    type: "object",
    required: known.map(([key]) => key),
    properties: chance(random, 0.5) ? { ...properties, [name]: ruled } : properties,
    "x-kubernetes-validations": rules(scope),
  } as JsonObject
}
