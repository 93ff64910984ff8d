// Lists of custom resources whose items have keys, where items are null, no objects or there three times, and nulls within
// lists of patches; statuses that no create took: their defaults, and what is not of its type in them.

import type { Json } from "../../../../apimachinery/object.ts"
import { applyPatch, get, mergePatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"
import { asTable } from "../generate/life-scenarios.ts"
import { definitionOf, definitions } from "./things.ts"

export function customListCases(): Scenario[] {
  return [
    { name: "a custom resource has lists with odd items", anyOrder: true, steps: oddItems() },
    { name: "a custom resource's status has defaults", anyOrder: true, steps: statusDefaults() },
    {
      name: "a custom resource is written with a status that is not of its type",
      anyOrder: true,
      steps: oddStatuses(),
    },
    { name: "a custom resource is a list by its fields", steps: lists() },
  ]
}

const group = "l@{id}.example.com"
const things = `/apis/${group}/v1/namespaces/@{ns}/things`

const text = { type: "string" }
/** Keys are required or have a default. */
const keyed = (key: object, more: object, ...keys: string[]): object => ({
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": keys,
  items: {
    type: "object",
    properties: { a: key, b: key, more: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
    ...more,
  },
})
const keyedByDefaults = (...keys: string[]): object => keyed({ ...text, default: "none" }, {}, ...keys)
const keyedByRequired = (...keys: string[]): object => keyed(text, { required: keys }, ...keys)
const set = { type: "array", "x-kubernetes-list-type": "set", items: text }
const condition = { type: "object", required: ["type"], properties: { type: text, reason: text } }
const conditions = { ...keyedByRequired("type"), items: condition }

const spec = {
  type: "object",
  properties: {
    one: keyedByRequired("a"),
    two: keyedByDefaults("a", "b"),
    set,
    plain: { type: "array", items: keyedByRequired("a") },
  },
}
const status = {
  type: "object",
  default: { conditions: [{ type: "Ready", reason: "Waiting" }] },
  properties: {
    conditions,
    phase: { ...text, default: "new" },
    atomic: {
      type: "array",
      "x-kubernetes-list-type": "atomic",
      items: { type: "object", properties: { conditions } },
    },
  },
}

function served(): RequestStep[] {
  const version = {
    subresources: { status: {} },
    schema: { openAPIV3Schema: { type: "object", properties: { spec, status } } },
    additionalPrinterColumns: [
      { name: "Ready", type: "string", jsonPath: ".status.conditions[?(@.type=='Ready')].reason" },
    ],
  }
  return [post(definitions, definitionOf(group, {}, version) as Json), get(things, { untilCode: 200 })]
}

const thing = (more: object, name = "a"): Json =>
  ({ apiVersion: `${group}/v1`, kind: "Thing", metadata: { name }, ...more }) as Json

function oddItems(): RequestStep[] {
  const lists: Json[] = [
    [null],
    [null, null],
    [{}, null],
    [{}, null, {}],
    ["x", { a: "a" }, 1],
    [["x"], []],
    [{ a: "a" }, { a: "a" }, { a: "a" }, { a: "b" }, { a: "b" }],
    [{ a: null }, {}],
    [{ a: null, b: null }],
    [{ a: "a", more: { none: null, deep: [{ none: null }] } }],
    ["x", "x", "x", "y", "y"],
    [["x"], ["x"], ["x"]],
  ]
  return [
    ...served(),
    post(things, thing({ spec: { one: [{ a: "a" }] } })),
    ...lists.flatMap((list) => ["one", "two", "set"].flatMap((field) => written({ [field]: list }))),
    ...lists.flatMap((list) => written({ plain: [list] })),
  ]
}

function written(fields: Record<string, Json>): RequestStep[] {
  const label = JSON.stringify(fields)
  const one = `${things}/a?dryRun=All&fieldValidation=Strict`
  return [
    post(`${things}?dryRun=All`, thing({ spec: fields }, "b"), { label: `POST ${label}` }),
    patch(one, mergePatch, { spec: fields }, { label: `MERGE ${label}` }),
    patch(`${one}&fieldManager=x&force=true`, applyPatch, thing({ spec: fields }), { label: `APPLY ${label}` }),
  ]
}

function statusDefaults(): RequestStep[] {
  const revision = { metadata: { name: "a", resourceVersion: "@{made.metadata.resourceVersion}" } }
  return [
    ...served(),
    post(`${things}?dryRun=All`, thing({ spec: {} }), { label: "POST dry" }),
    post(things, thing({ spec: {}, status: { phase: "given" } }), { save: "made" }),
    get(`${things}/a`),
    get(things, { headers: asTable, label: "GET table" }),
    put(`${things}/a/status?dryRun=All`, thing(revision), { label: "PUT no status" }),
    put(`${things}/a/status?dryRun=All`, thing({ ...revision, status: {} }), { label: "PUT an empty status" }),
    put(`${things}/a?dryRun=All`, thing({ ...revision, spec: { set: ["a"] } }), { label: "PUT spec" }),
    patch(`${things}/a/status`, mergePatch, { status: { conditions: [] } }, { label: "MERGE status" }),
    patch(`${things}/b?fieldManager=x`, applyPatch, thing({ spec: { set: ["a"] } }, "b"), { label: "APPLY new" }),
  ]
}

function oddStatuses(): RequestStep[] {
  const statuses: Json[] = [
    { conditions: [{ reason: "a" }] },
    { conditions: [{ type: "a", reason: [{}] }] },
    { atomic: [{ conditions: [{}] }] },
    { atomic: [{ conditions: [{ type: "a" }, { type: "a" }] }] },
    { phase: 1 },
    { phase: null },
    "text",
    { unknown: 1 },
  ]
  const revision = { metadata: { name: "a", resourceVersion: "@{made.metadata.resourceVersion}" } }
  return [
    ...served(),
    post(things, thing({ spec: { set: ["a"] } }), { save: "made" }),
    ...statuses.flatMap((odd) => {
      const label = JSON.stringify(odd)
      return [
        post(`${things}?dryRun=All`, thing({ status: odd }, "b"), { label: `POST ${label}` }),
        put(`${things}/a?dryRun=All`, thing({ ...revision, spec: { set: ["b"] }, status: odd }), {
          label: `PUT ${label}`,
        }),
        patch(`${things}/a?dryRun=All&fieldManager=x`, applyPatch, thing({ status: odd }), { label: `APPLY ${label}` }),
      ]
    }),
    ...[{ one: [{ b: "a" }] }, { set: [[]] }, { one: {} }].map((odd) =>
      put(`${things}/a/status?dryRun=All`, thing({ ...revision, spec: odd, status: { phase: "b" } }), {
        label: `PUT status with spec ${JSON.stringify(odd)}`,
      }),
    ),
  ]
}

/** Upstream takes it for a list, and has no answer although it is stored. */
function lists(): RequestStep[] {
  const of = "li@{id}.example.com"
  const path = `/apis/${of}/v1/namespaces/@{ns}/things`
  const listed = (name: string, items: Json): Json => ({
    apiVersion: `${of}/v1`,
    kind: "Thing",
    metadata: { name },
    items,
  })
  const properties = { items: { type: "array", items: { type: "object", properties: { a: text } } } }
  const schema = { openAPIV3Schema: { type: "object", properties } }
  return [
    post(definitions, definitionOf(of, {}, { schema }) as unknown as Json),
    get(path, { untilCode: 200 }),
    post(path, listed("a", [{ a: "x" }]), { label: "POST items" }),
    post(`${path}?dryRun=All`, listed("b", []), { label: "POST no items" }),
    post(`${path}?dryRun=All`, listed("b", 5)),
    post(path, listed("b", null)),
    get(`${path}/a`, { label: "GET items" }),
    patch(`${path}/b`, mergePatch, { items: [{ a: "y" }] }, { label: "PATCH items" }),
    get(`${path}?labelSelector=none`),
  ]
}
