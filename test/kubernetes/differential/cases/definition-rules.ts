// Rules in definitions: what a definition may say of a rule beside its expression, and what rules may cost.

import { get, post, type RequestStep, type Scenario } from "../scenario.ts"
import { messages, reasons, type Rule, ruledThing, whole } from "./ruled-schemas.ts"
import { definitionOf, definitions, group, things } from "./things.ts"

export function definitionRuleCases(): Scenario[] {
  return [
    { name: "a definition has rules with any message, path and reason", anyOrder: true, steps: declared() },
    { name: "a custom resource has rules that cost too much", anyOrder: true, steps: costly() },
    { name: "a definition has rules that cost too much", anyOrder: true, steps: estimated() },
    { name: "a definition has rules for elements of types without any", anyOrder: true, steps: elementless() },
  ]
}

const paths = [
  ".a",
  "a",
  ".",
  "",
  " .a",
  ".a ",
  ".bogus",
  ".inner.a",
  ".inner.bogus",
  "['a']",
  ".inner['a']",
  ".inner['b.c']",
  ".inner.b.c",
  ".inner['d-e']",
  ".inner.d-e",
  ".inner.namespace",
  '.inner["a"]',
  ".inner['a'",
  ".inner[a]",
  ".map.x",
  ".map['x.y']",
  ".map[x]",
  ".map",
  ".maps.x.a",
  ".maps['x']['b.c']",
  ".list",
  ".list[0]",
  ".list['0']",
  ".keyed[0].value",
  ".any.x",
  ".a.b",
  ".a\n",
  ".inner..a",
  ".inner.",
  "..a",
  ".inner['a\\'b']",
]

const expressions = ["", " ", "true", "1", "self.a", "dyn(true)", "self == self", "true\n&& true", "oldSelf == self"]
const optional: readonly Rule[] = [
  { rule: "true", optionalOldSelf: true },
  { rule: "true", optionalOldSelf: false },
  { rule: "oldSelf.a == self.a", optionalOldSelf: true },
  { rule: "oldSelf.hasValue()", optionalOldSelf: true },
  { rule: "!oldSelf.hasValue() || oldSelf.value().a == self.a", optionalOldSelf: true },
  { rule: "oldSelf.orValue(self).a == self.a", optionalOldSelf: true },
  { rule: "oldSelf.?a.orValue('') == self.a", optionalOldSelf: true },
  { rule: "oldSelf.hasValue()", optionalOldSelf: false },
  { rule: "oldSelf.a == self.a", messageExpression: "oldSelf.a", optionalOldSelf: false },
  { rule: "oldSelf.hasValue()", messageExpression: "oldSelf.value().a", optionalOldSelf: true },
]

const declaredRules: readonly Rule[] = [
  ...paths.map((fieldPath) => ({ rule: "false", fieldPath })),
  ...messages.map((message) => ({ rule: "false", ...message })),
  ...reasons.map((reason) => ({ rule: "false", reason })),
  ...expressions.map((rule) => ({ rule })),
  ...optional,
]

function declared(): RequestStep[] {
  return declaredRules.map((rule) =>
    post(`${definitions}?dryRun=All`, definitionOf(group, {}, whole([rule])), {
      label: JSON.stringify(rule).slice(0, 100),
    }),
  )
}

function estimated(): RequestStep[] {
  const unbound = { type: "array", items: { type: "string" } }
  const nested = { type: "array", items: { type: "array", items: { type: "string" } } }
  const bound = { type: "array", maxItems: 100, items: { type: "string", maxLength: 100 } }
  const cases: [object, Rule][] = [
    [unbound, { rule: "self.all(x, x == 'a')" }],
    [unbound, { rule: "self.all(x, self.all(y, x == y))" }],
    [unbound, { rule: "self.size() < 5", messageExpression: "self.map(x, self.map(y, x + y).join(',')).join(',')" }],
    [nested, { rule: "self.all(x, x.all(y, y.matches('a*b*c*')))" }],
    [bound, { rule: "self.all(x, self.all(y, x == y))" }],
    [bound, { rule: "self.all(x, self.all(y, self.all(z, x == y || y == z)))" }],
    [
      { ...unbound, items: { type: "string", "x-kubernetes-validations": [{ rule: "self.contains('a')" }] } },
      { rule: "true" },
    ],
    [
      {
        type: "array",
        items: {
          type: "array",
          items: { type: "string", "x-kubernetes-validations": [{ rule: "self.matches('a+')" }] },
        },
      },
      { rule: "true" },
    ],
    [{ type: "object", additionalProperties: { type: "string" } }, { rule: "self.all(k, self[k].contains(k))" }],
    [{ type: "string" }, { rule: "self.split(',').all(x, x.size() > 1)" }],
    [{ type: "string", format: "date-time" }, { rule: "self > timestamp('2020-01-01T00:00:00Z')" }],
    [{ "x-kubernetes-int-or-string": true }, { rule: "string(self).matches('a')" }],
    [{ type: "string", enum: ["a", "bbbbbb"] }, { rule: "self.matches('a')" }],
    [{ type: "string" }, { rule: "self.replace('a', 'b').lowerAscii().contains(self)" }],
    [{ type: "array", maxItems: 10_000, items: { type: "integer" } }, { rule: "self.sum() > self.max()" }],
    [
      { type: "array", items: { type: "object", properties: { a: unbound } } },
      { rule: "self.all(x, x.a.all(y, y == ''))" },
    ],
  ]
  return cases.map(([schema, rule], index) => {
    const property = { ...schema, "x-kubernetes-validations": [rule] }
    const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", properties: { f: property } } } }
    return post(`${definitions}?dryRun=All`, definitionOf(group, {}, { schema: { openAPIV3Schema } }), {
      label: `${index}: ${JSON.stringify(rule)}`,
    })
  })
}

function costly(): RequestStep[] {
  const long = { type: "array", maxItems: 1000, items: { type: "string", maxLength: 10 } }
  const many = { type: "array", items: { type: "integer" } }
  const rules: Rule[] = [
    { rule: "self.long.all(x, self.long.exists(y, x == y))" },
    { rule: "self.long.all(x, x.size() < 20)" },
  ]
  const version = {
    schema: {
      openAPIV3Schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: { long, many, kept: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
            "x-kubernetes-validations": rules.slice(1),
          },
        },
      },
    },
  }
  const words = Array.from({ length: 1000 }, (_, index) => `w${index}`)
  return [
    post(definitions, definitionOf(group, {}, version), { label: "POST definition" }),
    get(things, { untilCode: 200 }),
    post(`${things}?dryRun=All`, ruledThing({ long: words }), { label: "POST a thousand" }),
    post(`${things}?dryRun=All`, ruledThing({ long: [...words, "x"] }), { label: "POST more than a thousand" }),
  ]
}

/** The elements of a type that has none have no declared type, if their parent has one because of its or an ancestor's rules. */
function elementless(): RequestStep[] {
  const rules = { "x-kubernetes-validations": [{ rule: "true" }] }
  const ruled = { type: "string", ...rules }
  const parents: Record<string, object> = {
    "items of an integer": { type: "integer", items: ruled },
    "items of a text": { type: "string", items: ruled, ...rules },
    "items of an object": { type: "object", properties: { b: { type: "string" } }, items: ruled },
    "items of a map": { type: "object", additionalProperties: { type: "string" }, items: ruled },
    "values of a list": { type: "array", items: { type: "string" }, additionalProperties: ruled },
    "values of a text": { type: "string", additionalProperties: ruled },
    "items without rules": { type: "integer", items: { type: "string" } },
  }
  return Object.entries(parents).flatMap(([label, a]) =>
    [rules, {}].map((ofParent, index) => {
      const openAPIV3Schema = {
        type: "object",
        properties: { spec: { type: "object", properties: { a }, ...ofParent } },
      }
      const body = definitionOf(group, {}, { schema: { openAPIV3Schema } })
      return post(`${definitions}?dryRun=All`, body, { label: index === 0 ? label : `${label}, without rules above` })
    }),
  )
}
