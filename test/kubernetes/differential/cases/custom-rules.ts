// Rules of custom resources: what objects are told that break them.

import type { Json } from "../../../../apimachinery/object.ts"
import { applyPatch, get, mergePatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"
import {
  fields,
  inner,
  messages,
  reasons,
  type Rule,
  ruled,
  ruledThing,
  shortList,
  shortText,
  whole,
} from "./ruled-schemas.ts"
import { definitionOf, definitions, group, things } from "./things.ts"

export function customRuleCases(): Scenario[] {
  return [
    { name: "a custom resource breaks rules with any message, path and reason", anyOrder: true, steps: broken() },
    { name: "a custom resource has rules about what was before", anyOrder: true, steps: transitions() },
    { name: "a custom resource has rules and other faults", anyOrder: true, steps: order() },
  ]
}

/** Whether a definition may have the message. */
function mayBeSaid({ message, messageExpression }: Rule): boolean {
  if (typeof message === "string" && /^ $|\n/.test(message)) return false
  const impossible = /bogus|size|^dyn|oldSelf|'a$|^ ?$|self\.n|map\(/
  return typeof messageExpression !== "string" || !impossible.test(messageExpression)
}

/** A version for each rule: of those that a definition may have. */
function broken(): RequestStep[] {
  const rules: Rule[] = [
    ".a",
    ".inner.a",
    "['a']",
    ".inner['b.c']",
    ".inner['d-e']",
    ".inner.namespace",
    ".map.x",
    ".map['x.y']",
    ".maps['x']['b.c']",
    ".list",
    ".map",
  ].map((fieldPath) => ({ rule: "false", fieldPath }))
  rules.push(
    ...messages.filter(mayBeSaid).map((message) => ({ rule: "false", ...message })),
    ...reasons.slice(0, 4).map((reason) => ({ rule: "false", reason, fieldPath: ".a" })),
    ...reasons.slice(0, 4).map((reason) => ({ rule: "false", reason })),
    { rule: "false\n&& true", message: "is false" },
    { rule: "1 / self.n == 1" },
    { rule: "self.list[7] == 'a'" },
    { rule: "self.map['none'] == 'a'" },
    { rule: "self.inner.a == 'b'" },
    { rule: "self.port == 1" },
    { rule: "self.when > timestamp('2020-01-01T00:00:00Z')" },
    { rule: "timestamp('2020-01-01T1:00:00Z') > timestamp('2020-01-01T00:00:00Z')" },
    { rule: "timestamp('2020-01-01T00:00:00-23:60') > timestamp('2020-01-01T00:00:00Z')" },
    { rule: "duration(self.a) > duration('1s')" },
    { rule: "int(self.a) > 1" },
  )
  const versions = rules.map((rule, index) => ({
    name: `v${index + 1}`,
    served: true,
    storage: index === 0,
    ...whole([rule]),
  }))
  const spec = { a: "word", n: 0, list: ["a"], map: { x: "y" }, inner: {}, any: { x: "z" }, port: "x" }
  return [
    post(definitions, definitionOf(group, {}, {}, { versions }), { label: "POST definition" }),
    get(`/apis/${group}/v${rules.length}/things`, { untilCode: 200 }),
    ...rules.map((rule, index) =>
      post(
        `/apis/${group}/v${index + 1}/namespaces/@{ns}/things?dryRun=All`,
        { apiVersion: `${group}/v${index + 1}`, kind: "Thing", metadata: { name: "a" }, spec },
        { label: JSON.stringify(rule).slice(0, 100) },
      ),
    ),
  ]
}

function transitions(): RequestStep[] {
  const same = { rule: "self == oldSelf", message: "must stay" }
  const more = {
    a: ruled(shortText, same),
    list: ruled(shortList, { rule: "self.size() >= oldSelf.size()" }),
    keyed: {
      ...fields.keyed,
      items: ruled(fields.keyed.items, {
        rule: "self.value == oldSelf.value",
        fieldPath: ".value",
        reason: "FieldValueForbidden",
      }),
    },
    map: { ...fields.map, additionalProperties: ruled(shortText, same) },
    maps: { ...fields.maps, additionalProperties: ruled(inner, { ...same, rule: "!has(oldSelf.a) || has(self.a)" }) },
    inner: ruled(
      inner,
      { rule: "oldSelf.hasValue() || has(self.a)", optionalOldSelf: true, message: "a at first" },
      { rule: "!oldSelf.hasValue() || has(self.a) == has(oldSelf.value().a)", optionalOldSelf: true },
      { rule: "has(self.a) == has(oldSelf.a)", messageExpression: "'was ' + (has(oldSelf.a) ? oldSelf.a : 'absent')" },
    ),
    nullable: ruled(fields.nullable, { rule: "self == oldSelf" }),
    n: ruled({ type: "integer" }, { rule: "self >= oldSelf", messageExpression: "oldSelf > 4 ? 'was more' : ''" }),
    port: ruled(fields.port, { rule: "self == oldSelf" }),
  }
  const version = whole([{ rule: "has(self.a) || !has(oldSelf.a)", message: "a stays" }], more)
  const first = {
    a: "x",
    n: 5,
    list: ["a", "b"],
    keyed: [
      { name: "a", value: "1" },
      { name: "b", value: "2" },
    ],
    map: { x: "y" },
    maps: { x: { a: "b" } },
    inner: { a: "b" },
    nullable: null,
    port: 1,
  }
  const changes: Json[] = [
    {},
    { a: "y" },
    { a: null },
    { n: 4 },
    { n: 6 },
    { list: ["c"] },
    { list: ["c", "d", "e"] },
    { keyed: [{ name: "a", value: "2" }] },
    { keyed: [{ name: "c", value: "2" }] },
    {
      keyed: [
        { name: "b", value: "2" },
        { name: "a", value: "1" },
      ],
    },
    { keyed: [{ name: "a" }] },
    { map: { x: "z" } },
    { map: { x: null, y: "z" } },
    { maps: { x: { a: null } } },
    { maps: { x: null } },
    { inner: { a: null } },
    { inner: null },
    { inner: { a: "c" } },
    { nullable: "x" },
    { port: "1" },
  ]
  return [
    post(definitions, definitionOf(group, {}, version), { label: "POST definition" }),
    get(things, { untilCode: 200 }),
    post(`${things}?dryRun=All`, ruledThing({}), { label: "POST nothing" }),
    post(`${things}?dryRun=All`, ruledThing({ inner: {} }), { label: "POST without a" }),
    post(`${things}?fieldManager=m`, ruledThing(first)),
    ...changes.map((spec) =>
      patch(`${things}/a?dryRun=All`, mergePatch, { spec }, { label: `PATCH ${JSON.stringify(spec)}` }),
    ),
    put(`${things}/a?dryRun=All`, ruledThing({}), { label: "PUT nothing" }),
    patch(
      `${things}/a?fieldManager=n&force=true&dryRun=All`,
      applyPatch,
      ruledThing({ a: "z", inner: { "b.c": "d" } }),
    ),
  ]
}

function order(): RequestStep[] {
  const ruled = { ...shortText, "x-kubernetes-validations": [{ rule: "self == 'ok'", message: "is not ok" }] }
  const version = {
    schema: {
      openAPIV3Schema: {
        type: "object",
        required: ["spec"],
        properties: {
          spec: {
            type: "object",
            required: ["needed"],
            properties: {
              needed: shortText,
              ruled,
              preset: { ...ruled, default: "ok" },
              number: { type: "integer", maximum: 5, "x-kubernetes-validations": [{ rule: "self > 1" }] },
              list: { type: "array", maxItems: 2, "x-kubernetes-list-type": "set", items: ruled },
              map: { type: "object", maxProperties: 1, additionalProperties: ruled },
            },
            "x-kubernetes-validations": [{ rule: "has(self.ruled)", message: "must have ruled", fieldPath: ".ruled" }],
          },
          status: {
            type: "object",
            properties: { ruled },
            "x-kubernetes-validations": [{ rule: "has(self.ruled)", message: "must have ruled" }],
          },
        },
        "x-kubernetes-validations": [
          { rule: "self.metadata.name != 'b'", message: "not b" },
          { rule: "!has(self.metadata.generateName)", message: "not generated" },
        ],
      },
    },
    subresources: { status: {} },
  }
  const specs: Json[] = [
    {},
    { needed: "x" },
    { ruled: "no" },
    { needed: "x", ruled: "no" },
    { needed: "x", ruled: "ok", number: 9 },
    { needed: "x", ruled: "ok", number: 0 },
    { needed: "x", ruled: "no", number: "9" },
    { needed: "x", ruled: 5 },
    { needed: "x", ruled: "a".repeat(11) },
    { needed: "x", ruled: "ok", list: ["no", "no"] },
    { needed: "x", ruled: "ok", list: ["no", "a", "b"] },
    { needed: "x", ruled: "ok", map: { a: "no" } },
    { needed: "x", ruled: "ok", map: { a: "no", b: "no" } },
    { needed: "x", ruled: "ok", preset: "no" },
    { needed: "x", ruled: "ok", preset: null },
    { needed: "x", ruled: null },
  ]
  return [
    post(definitions, definitionOf(group, {}, version), { label: "POST definition" }),
    get(things, { untilCode: 200 }),
    ...specs.map((spec) => post(`${things}?dryRun=All`, ruledThing(spec), { label: `POST ${JSON.stringify(spec)}` })),
    post(`${things}?dryRun=All`, ruledThing({ needed: "x", ruled: "ok" }, { metadata: { name: "b" } }), {
      label: "POST b",
    }),
    post(`${things}?dryRun=All`, ruledThing({ needed: "x", ruled: "ok" }, { metadata: { generateName: "gen-" } }), {
      label: "POST generated",
    }),
    post(things, ruledThing({ needed: "x", ruled: "ok" })),
    ...[{}, { ruled: "ok" }, { ruled: "no" }, { ruled: 5 }, null].map((status) =>
      patch(
        `${things}/a/status?dryRun=All`,
        mergePatch,
        { status },
        { label: `PATCH status ${JSON.stringify(status)}` },
      ),
    ),
    patch(
      `${things}/a/status?dryRun=All`,
      mergePatch,
      { spec: { ruled: "no" }, status: { ruled: "ok" } },
      {
        label: "PATCH status with spec",
      },
    ),
  ]
}
