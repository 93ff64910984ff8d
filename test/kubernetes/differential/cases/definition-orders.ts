// Definitions with more than one fault, which are told in one order; and faults in parts of a schema that have none of their own.

import type { Json } from "../../../../apimachinery/object.ts"
import { mergePatch, patch, post, type RequestStep, type Scenario } from "../scenario.ts"
import { definitions } from "./things.ts"

const group = "o@{id}.example.com"

export function definitionOrderCases(): Scenario[] {
  return [
    { name: "faults of a definition are told in order", steps: [...names(), ...parts()] },
    { name: "faults of a changed definition are told in order", steps: changes() },
    { name: "faults of a definition's schema are told in order", steps: schemas(ordered) },
    { name: "a definition has faults within parts that validate only", steps: schemas(nested) },
    { name: "a definition has odd metadata and alternatives", steps: schemas(forms) },
    { name: "texts of a definition are quoted", steps: quoted() },
    { name: "a definition's costs are rounded", steps: schemas(rounded) },
  ]
}

const text = { type: "string" }
const version = (more: object = {}, openAPIV3Schema: object = { type: "object" }): object => ({
  name: "v1",
  served: true,
  storage: true,
  schema: { openAPIV3Schema },
  ...more,
})
const body = (spec: object, more: object = {}): Json =>
  ({
    metadata: { name: `things.${group}`, ...more },
    spec: { group, scope: "Cluster", names: { plural: "things", kind: "Thing" }, versions: [version()], ...spec },
  }) as Json
const dry = (label: string, spec: object, more: object = {}): RequestStep =>
  post(`${definitions}?dryRun=All`, body(spec, more), { label: `POST ${label}` })

function names(): RequestStep[] {
  return [
    { plural: "th.ings", kind: "" },
    { plural: "1", singular: "_", kind: "", listKind: "a_" },
    { plural: "", singular: "S", kind: "9", listKind: "" },
    { plural: "th_", kind: "Thing", listKind: "Thing", shortNames: ["A"], categories: ["B"] },
  ].map((given) => dry(`names ${JSON.stringify(given)}`, { names: given }))
}

function parts(): RequestStep[] {
  const preset = version({}, { type: "object", properties: { a: { ...text, default: "x" } } })
  const webhook = { strategy: "Webhook", webhook: { conversionReviewVersions: [] } }
  return [
    dry("unknown fields", {
      preserveUnknownFields: true,
      versions: [preset, { name: "v2", served: true, storage: false }],
    }),
    dry("nothing stored", { group: "k8s.io", preserveUnknownFields: true, versions: [version({ storage: false })] }),
    dry("conversion", { preserveUnknownFields: true, conversion: webhook, scope: "x", versions: [preset] }),
  ]
}

function changes(): RequestStep[] {
  const of = `${group}.k8s.io`
  const approval = (said: string | null) => ({ metadata: { annotations: { "api-approved.kubernetes.io": said } } })
  const path = `${definitions}/things.${of}?dryRun=All`
  const changed: [string, object][] = [
    ["scope and kind", { spec: { scope: "Namespaced", names: { kind: "Other" } } }],
    ["versions", { spec: { scope: "Namespaced", versions: [version({ name: "v2" })] } }],
    [
      "all",
      {
        ...approval(null),
        spec: { scope: "", names: { kind: "x_" }, preserveUnknownFields: true, versions: [version({ name: "v2" })] },
      },
    ],
    ["group", { ...approval("x"), spec: { group: "x", names: { plural: "others" } } }],
  ]
  return [
    post(
      definitions,
      {
        ...(body({ group: of }) as object),
        metadata: { name: `things.${of}`, ...approval("unapproved").metadata },
      } as Json,
      { label: "WRITE definition" },
    ),
    {
      ...patch(
        `${definitions}/things.${of}`,
        mergePatch,
        {},
        { untilText: "InitialNamesAccepted", label: "WRITE nothing" },
      ),
    },
    ...changed.map(([label, change]) => patch(path, mergePatch, change as Json, { label: `PATCH ${label}` })),
  ]
}

const schemas = (list: readonly object[]): RequestStep[] =>
  list.map((a) => {
    const openAPIV3Schema = { type: "object", properties: { a } }
    return dry(JSON.stringify(a).slice(0, 160), {
      versions: [version({}, "root" in a ? (a.root as object) : openAPIV3Schema)],
    })
  })

const rules = (...list: object[]): object => ({ "x-kubernetes-validations": list })

const ordered: readonly object[] = [
  {
    type: "array",
    items: { type: "object" },
    "x-kubernetes-list-type": "set",
    "x-kubernetes-list-map-keys": ["a"],
  },
  { type: "object", "x-kubernetes-map-type": "bogus", ...rules({ rule: "" }), uniqueItems: true },
  { type: "array", items: { ...text, ...rules({ rule: " ", reason: "x" }) }, "x-kubernetes-list-type": "bogus" },
  {
    type: "object",
    properties: { a: { ...text, ...rules({ rule: "" }) } },
    ...rules({ rule: "true", reason: "x" }),
    not: { id: "a" },
  },
  { type: "string", "x-kubernetes-embedded-resource": true, additionalProperties: text },
  { type: "", "x-kubernetes-embedded-resource": true, additionalProperties: text },
  { type: "object", "x-kubernetes-embedded-resource": true, additionalProperties: false },
  {
    type: "array",
    items: { type: "array", items: [text] },
    nullable: true,
    id: "x",
    $ref: "",
    dependencies: { a: ["b"] },
  },
]

const worded = rules({ rule: "" }, { rule: "true", message: " ", reason: "Bogus", fieldPath: "x" })

const nested: readonly object[] = [
  ...["allOf", "anyOf", "oneOf"].map((junctor) => ({ ...text, [junctor]: [worded] })),
  { ...text, not: worded },
  { type: "object", properties: { b: text }, not: { properties: { b: worded } } },
  { type: "object", definitions: { a: { ...text, ...worded } } },
  { type: "object", dependencies: { a: { ...text, ...worded } } },
  { type: "array", items: [{ ...text, ...worded }] },
  { type: "object", patternProperties: { a: { ...text, ...worded } } },
  { type: "array", items: text, additionalItems: { ...text, ...worded } },
  { ...text, allOf: [rules({ rule: "self.bogus" })], ...rules({ rule: "1" }) },
  { type: "array", items: [] },
  { type: "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"], items: [] },
  { type: "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"], items: [text] },
  { type: "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [], items: null },
  { type: "array", "x-kubernetes-list-type": "set", items: [text] },
  { ...text, items: [] },
]

const root = (properties: object): object => ({ root: { type: "object", properties } })
const metadata = (more: object): object => root({ metadata: { type: "object", ...more } })
const either = [{ type: "integer" }, text]
const both = { "x-kubernetes-int-or-string": true }

const forms: readonly object[] = [
  metadata({}),
  metadata({ description: "" }),
  metadata({ description: "d" }),
  metadata({ required: [] }),
  metadata({ properties: {} }),
  metadata({ enum: [] }),
  metadata({ allOf: [] }),
  metadata({ minProperties: 0 }),
  metadata({ nullable: false, uniqueItems: false }),
  metadata({ ...rules() }),
  metadata({ "x-kubernetes-list-map-keys": [] }),
  metadata({ "x-kubernetes-list-type": "" }),
  metadata({ additionalProperties: false }),
  metadata({ additionalProperties: text }),
  metadata({ externalDocs: {} }),
  metadata({ example: null }),
  metadata({ example: {} }),
  metadata({ default: null }),
  metadata({ pattern: "", format: "", title: "", exclusiveMinimum: false, "x-kubernetes-embedded-resource": false }),
  metadata({ properties: { name: text, generateName: text } }),
  metadata({ properties: { name: { ...text, maxLength: 5 }, labels: { type: "object" } } }),
  metadata({ "x-kubernetes-preserve-unknown-fields": true }),
  root({ metadata: { type: "string" } }),
  root({ metadata: { description: "x" }, kind: { type: "integer" }, apiVersion: {} }),
  { ...both, anyOf: [{ type: "integer", required: [] }, text] },
  { ...both, anyOf: [{ type: "integer", properties: {} }, text] },
  { ...both, anyOf: [{ type: "integer", enum: [] }, text] },
  { ...both, anyOf: [{ type: "integer", description: "" }, text] },
  { ...both, anyOf: [{ type: "integer", nullable: false }, text] },
  {
    ...both,
    anyOf: [
      { type: "integer", default: null },
      { ...text, format: "" },
    ],
  },
  { ...both, anyOf: [{ type: "integer", additionalProperties: false }, text] },
  { ...both, anyOf: [{ type: "integer", minimum: 0 }, text] },
  { ...both, allOf: [{ anyOf: either, required: [] }] },
  { ...both, allOf: [{ anyOf: either }, { anyOf: either }] },
  { ...both, allOf: [{}, { anyOf: either }] },
  { ...both, anyOf: [...either, text] },
]

function quoted(): RequestStep[] {
  const odd = ["a\u007f", "\u00a0b", "é", "a\u0001", "\u2028", "<&>", "😀", "\u00ad"]
  const of = `${group}.k8s.io`
  const annotations = (said: string) => ({ "api-approved.kubernetes.io": said })
  return [
    ...odd.map((format) =>
      dry(`format ${JSON.stringify(format)}`, {
        versions: [version({}, { type: "object", properties: { a: { ...text, format } } })],
      }),
    ),
    ...odd.map((said) =>
      dry(`approval ${JSON.stringify(said)}`, { group: of }, { name: `things.${of}`, annotations: annotations(said) }),
    ),
    ...[
      "//a/b",
      "https://",
      "https://@/",
      "a_b://c",
      "https://:80",
      "https:///a",
      "/a",
      "http://a b",
      "HTTP://a",
      "https:a",
    ].map((said) =>
      dry(`approval ${JSON.stringify(said)}`, { group: of }, { name: `things.${of}`, annotations: annotations(said) }),
    ),
  ]
}

/** The rule costs 2 for each item: an exact tie is rounded to the even digit. */
const rounded: readonly object[] = [11_250_000, 13_750_000, 16_250_000, 5_000_001, 7_499_999, 7_500_000].map(
  (maxItems) => ({
    type: "array",
    maxItems,
    items: { type: "integer", ...rules({ rule: "self > 0" }) },
  }),
)
