// Rules with an optional old value: upstream takes it out of the optional as a Go value, which has no schema.

import type { Json } from "../../../../apimachinery/object.ts"
import { asTable } from "../generate/life-scenarios.ts"
import { get, jsonPatch, mergePatch, patch, post, type RequestStep, type Scenario } from "../scenario.ts"
import { number, rule, ruled, text } from "./ruled-schemas.ts"
import { definedWith, definitions } from "./things.ts"

type Body = Record<string, Json>

const group = "or@{id}.example.com"
const things = `/apis/${group}/v1/namespaces/@{ns}/things`
const definition = `${definitions}/things.${group}`
const time = { type: "string", format: "date-time" }
const short = { ...text, maxLength: 5 }
const free = { "x-kubernetes-preserve-unknown-fields": true }
const later = "timestamp('2000-01-01T00:00:00Z')"

export function customOptionalRuleCases(): Scenario[] {
  return [
    { name: "a definition has rules about optional old values", anyOrder: true, steps: compared() },
    { name: "a definition has rules about optional old values of other types", anyOrder: true, steps: ofOtherTypes() },
  ]
}

const thing = (name: string, spec: Json): Json => ({
  apiVersion: `${group}/v1`,
  kind: "Thing",
  metadata: { name },
  spec,
})

/** A column tells when the servers have taken the rule over. */
function redefined(spec: object, round: string, label: string): RequestStep[] {
  const version = {
    name: "v1",
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
    additionalPrinterColumns: [{ name: round, type: "string", jsonPath: ".x" }],
  }
  return [
    patch(definition, mergePatch, { spec: { versions: [version] } } as Json, { label: `PATCH definition ${label}` }),
    get(things, { headers: asTable, untilText: `"${round}"`, label: `GET ${label}` }),
  ]
}

const optional = (schema: object, expression: string): object =>
  ruled(schema, rule(expression, { optionalOldSelf: true }))

const fields = {
  size: number,
  ratio: { type: "number" },
  when: time,
  span: { type: "string", format: "duration" },
  bytes: { type: "string", format: "byte" },
  port: { "x-kubernetes-int-or-string": true },
  "a-b": short,
  "c.d": short,
  inner: { type: "object", properties: { x: number, when: time } },
  tags: { type: "array", items: short, "x-kubernetes-list-type": "set", maxItems: 5 },
  parts: {
    type: "array",
    maxItems: 5,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    items: { type: "object", required: ["name"], properties: { name: short, count: number } },
  },
  map: { type: "object", maxProperties: 3, additionalProperties: number },
  none: { ...text, nullable: true },
}

const full: Body = {
  size: 1,
  ratio: 2,
  when: "2024-01-02T03:04:05Z",
  span: "1h",
  bytes: "aGk=",
  port: 5,
  "a-b": "x",
  "c.d": "y",
  inner: { x: 1, when: "2024-01-02T03:04:05Z" },
  tags: ["a", "b"],
  parts: [{ name: "a", count: 1 }, { name: "b" }],
  map: { a: 1, b: 2 },
  none: null,
}

const turned: Body = { tags: ["b", "a"], parts: [{ name: "b" }, { name: "a", count: 1 }] }
const partial: Body = { ...turned, size: 2, ratio: 1.5, inner: { x: 3 }, map: {} }

const ifOld = [
  "self == oldSelf.value()",
  "oldSelf.value() == self",
  "self.size >= oldSelf.value().size",
  "self.when >= oldSelf.value().when",
  "self.span == oldSelf.value().span",
  "self.bytes == oldSelf.value().bytes",
  "self.port == oldSelf.value().port",
  "self.a__dash__b == oldSelf.value().a__dash__b",
  "self.c__dot__d == oldSelf.?c__dot__d.orValue('')",
  "self.inner == oldSelf.value().inner",
  "self.tags == oldSelf.value().tags",
  "oldSelf.value().tags == self.tags",
  "self.parts == oldSelf.value().parts",
  "oldSelf.value().parts == self.parts",
  "self.map == oldSelf.value().map",
  "self.ratio >= oldSelf.value().ratio",
  "has(oldSelf.value().none)",
  "self.tags + oldSelf.value().tags == self.tags",
  "(oldSelf.value().tags + self.tags).size() == self.tags.size()",
  "oldSelf == optional.of(self)",
  "optional.of(self) == oldSelf",
  "oldSelf.value().parts.all(p, self.parts.exists(q, q == p))",
]

const rules = [
  ...ifOld.map((expression) => `!oldSelf.hasValue() || ${expression}`),
  "oldSelf.orValue(self) == self",
  "oldSelf.optMap(o, o.size > 1).orValue(true)",
  `oldSelf.?when.optMap(w, w < ${later}).orValue(true)`,
  "oldSelf.?inner.?x.orValue(3) == self.inner.x",
]

function compared(): RequestStep[] {
  return [
    ...definedWith(group, fields),
    post(things, thing("full", full)),
    post(things, thing("partial", partial)),
    ...rules.flatMap((expression, index) => [
      ...redefined(optional({ type: "object", properties: fields }, expression), `r${index}x`, expression),
      ...(
        [
          ["full", { metadata: { labels: { a: "b" } } }],
          ["full", { spec: { ...turned, size: 3 } }],
          ["partial", { metadata: { labels: { a: "b" } } }],
          ["partial", { spec: full }],
        ] as [string, Json][]
      ).map(([name, change]) =>
        patch(`${things}/${name}?dryRun=All`, mergePatch, change, {
          label: `PATCH ${name} ${Object.keys(change as Body).join()} ${expression}`,
        }),
      ),
      post(`${things}?dryRun=All`, thing("new", full), { label: `POST ${expression}` }),
    ]),
  ]
}

const older: Body = {
  size: "x",
  when: 5,
  inner: [1],
  tags: { a: 1 },
  map: "x",
  deep: { x: "y" },
  late: "x",
  open: { u: 1 },
}
const newer: Readonly<Record<string, { schema: object; value: Json; rules: readonly string[] }>> = {
  size: {
    schema: number,
    value: 3,
    rules: ["oldSelf.hasValue() && self > oldSelf.value()", "oldSelf.hasValue()", "oldSelf.orValue(1) == self"],
  },
  when: { schema: time, value: full["when"] as Json, rules: ["oldSelf.hasValue() && self > oldSelf.value()"] },
  inner: {
    schema: fields.inner,
    value: { x: 1 },
    rules: ["oldSelf.hasValue() && self == oldSelf.value()", "oldSelf.?x.hasValue()", "oldSelf.value().x == 1"],
  },
  tags: { schema: { type: "array", items: text }, value: ["a"], rules: ["oldSelf.value() == self"] },
  map: { schema: fields.map, value: { a: 1 }, rules: ["oldSelf.value().size() == 1"] },
  deep: {
    schema: fields.inner,
    value: { x: 1 },
    rules: [
      "oldSelf.value().x == self.x",
      "self.x > oldSelf.value().x",
      "oldSelf.?x.orValue(2) > 1",
      "self == oldSelf.value()",
    ],
  },
  late: { schema: time, value: full["when"] as Json, rules: ["oldSelf.value() == self", "oldSelf.hasValue()"] },
  open: {
    schema: { ...fields.inner, ...free },
    value: { u: 2 },
    rules: [
      "self == oldSelf.value()",
      "oldSelf.value() == self",
      "!(self == oldSelf.value())",
      "self != oldSelf.value()",
    ],
  },
}

function ofOtherTypes(): RequestStep[] {
  const asAny = Object.fromEntries(Object.keys(older).map((name) => [name, free]))
  return [
    ...definedWith(group, { count: number, ...asAny }),
    ...Object.entries(older).map(([name, value]) => post(things, thing(name, { [name]: value }))),
    ...Object.entries(newer).flatMap(([name, { schema, value, rules }]) =>
      rules.flatMap((expression, index) => [
        ...redefined(
          { type: "object", properties: { count: number, ...asAny, [name]: optional(schema, expression) } },
          `${name}${index}x`,
          `${name} ${expression}`,
        ),
        patch(
          `${things}/${name}?dryRun=All`,
          mergePatch,
          { spec: { count: 1 } },
          { label: `SAME ${name} ${expression}` },
        ),
        patch(`${things}/${name}?dryRun=All`, jsonPatch, [{ op: "add", path: `/spec/${name}`, value }], {
          label: `NEXT ${name} ${expression}`,
        }),
      ]),
    ),
  ]
}
