// Rules of custom resources that cost too much, and messages of rules about what may have been before.

import type { JsonObject } from "../generate/objects.ts"
import { get, mergePatch, patch, post, type RequestStep, type Scenario } from "../scenario.ts"
import { definitionOf, definitions, group, things } from "./things.ts"

export function customRuleCostCases(): Scenario[] {
  return [
    { name: "rules of a definition about what may have been before have messages", steps: optional() },
    { name: "rules of a definition cost more than they may", steps: costs() },
    { name: "rules of a definition cost more than they may for what has not changed", steps: unchanged() },
  ]
}

const rule = (more: JsonObject): JsonObject => ({ message: "plain", ...more })

const numbers = (maxItems: number): JsonObject => ({ type: "array", maxItems, items: { type: "integer" } })

const version = (name: string, rules: readonly JsonObject[]): JsonObject => ({
  name,
  served: true,
  storage: name === "v1",
  schema: {
    openAPIV3Schema: {
      type: "object",
      properties: {
        spec: {
          type: "object",
          properties: {
            a: { type: "string", maxLength: 10 },
            n: { type: "integer" },
            l: numbers(350),
            m: numbers(500),
          },
          ...(rules.length === 0 ? {} : { "x-kubernetes-validations": [...rules] }),
        },
      },
    },
  },
})

const thing = (of: string, name: string, spec: JsonObject): JsonObject => ({
  apiVersion: `${group}/${of}`,
  kind: "Thing",
  metadata: { name },
  spec,
})

const place = (of: string): string => `/apis/${group}/${of}/namespaces/@{ns}/things`

function defined(versions: readonly (readonly JsonObject[])[]): RequestStep[] {
  const all = [[], ...versions].map((rules, index) => version(`v${index + 1}`, rules))
  return [
    post(definitions, definitionOf(group, {}, {}, { versions: all }), { label: "POST definition" }),
    get(`/apis/${group}/v${all.length}/things`, { untilCode: 200 }),
  ]
}

function optional(): RequestStep[] {
  const messages = [
    "oldSelf.hasValue() ? 'old' : 'new'",
    "oldSelf.value().a",
    "oldSelf.orValue(self).a",
    "oldSelf.?a.orValue('none')",
    "oldSelf.or(optional.of(self)).value().a",
    "string(size([oldSelf]))",
    "self.a",
  ]
  const rules = messages.map((messageExpression) => [
    rule({ rule: "self.n < 5 || oldSelf == optional.of(self)", optionalOldSelf: true, messageExpression }),
  ])
  return [
    ...defined(rules),
    post(place("v1"), thing("v1", "a", { a: "old", n: 1 })),
    ...rules.flatMap((_, index) => [
      post(`${place(`v${index + 2}`)}?dryRun=All`, thing(`v${index + 2}`, "b", { a: "new", n: 9 })),
      patch(`${place(`v${index + 2}`)}/a?dryRun=All`, mergePatch, { spec: { a: "new", n: 9 } }),
    ]),
  ]
}

/** Costs 860,000 of the million that one expression may cost, and of the ten million that all may cost together. */
const costly = "self.l.all(x, self.l.all(y, x + y >= 0))"
const stopped = "self.l.all(x, self.m.all(y, x + y >= 0))"
const lists: JsonObject = { l: Array.from({ length: 350 }, () => 1), m: Array.from({ length: 500 }, () => 1) }
const many = (count: number): JsonObject[] => Array.from({ length: count }, () => rule({ rule: costly }))
const said = (expression: string): JsonObject =>
  rule({ rule: "self.n < 5", messageExpression: `${expression} ? 'said' : 'said'` })

function costs(): RequestStep[] {
  const rules = [
    [rule({ rule: stopped }), rule({ rule: "false" })],
    [...many(11), rule({ rule: stopped }), rule({ rule: "false" })],
    [said(stopped), rule({ rule: "false" })],
  ]
  const spec = { n: 9, ...lists }
  return [
    ...defined(rules),
    ...rules.map((_, index) =>
      post(`${place(`v${index + 2}`)}?dryRun=All`, thing(`v${index + 2}`, "b", spec), { label: `POST v${index + 2}` }),
    ),
  ]
}

function unchanged(): RequestStep[] {
  const rules = [
    [said(stopped), rule({ rule: "self.n != 9", message: "not nine" })],
    [...many(11), said(stopped)],
    [rule({ rule: stopped }), rule({ rule: "self.n != 9", message: "not nine" })],
  ]
  return [
    ...defined(rules),
    post(things, thing("v1", "a", { n: 9, ...lists })),
    ...rules.map((_, index) =>
      patch(
        `${place(`v${index + 2}`)}/a?dryRun=All`,
        mergePatch,
        { metadata: { labels: { a: "b" } } },
        { label: `PATCH v${index + 2}` },
      ),
    ),
  ]
}
