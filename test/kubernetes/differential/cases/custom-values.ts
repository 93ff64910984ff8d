// Values of custom resources that their schema says little of, or too much: additionalProperties in every position, null where
// it may and may not be, enums.

import type { Json } from "../../../../apimachinery/object.ts"
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  type RequestStep,
  type Scenario,
} from "../scenario.ts"
import { definedWith } from "./things.ts"

export function customValueCases(): Scenario[] {
  return [
    { name: "a custom resource has fields that its schema forbids", anyOrder: true, steps: forbiddenFields() },
    { name: "a custom resource has values of any type", anyOrder: true, steps: anyValues() },
    { name: "a custom resource has nulls", anyOrder: true, steps: nulls() },
    { name: "an applied custom resource with unknown fields", steps: unnamed() },
  ]
}

const group = "v@{id}.example.com"
const things = `/apis/${group}/v1/namespaces/@{ns}/things`
const dryRun = "?dryRun=All"
const free = { "x-kubernetes-preserve-unknown-fields": true }
const object = (properties: object, more: object = {}): object => ({ type: "object", properties, ...more })
const text = { type: "string" }
const nullableText = { type: "string", nullable: true }

function thing(spec: Json): Json {
  return { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" }, spec }
}

/** Each field with each value, posted and applied. */
function tried(fields: object, values: readonly Json[], more = ""): RequestStep[] {
  return Object.keys(fields).flatMap((name) =>
    values.flatMap((value) => {
      const spec = { [name]: value }
      const label = `${JSON.stringify(spec)}${more}`
      const steps = [post(`${things}${dryRun}${more}`, thing(spec), { label: `POST ${label}` })]
      if (more !== "") return steps
      return [
        ...steps,
        patch(`${things}/a${dryRun}&fieldManager=x`, applyPatch, thing(spec), { label: `APPLY ${label}` }),
      ]
    }),
  )
}

function forbiddenFields(): RequestStep[] {
  const none = { additionalProperties: false }
  const numbers = { additionalProperties: { type: "integer" } }
  const fields = {
    none: { type: "object", ...none },
    noneNamed: object({}, none),
    items: { type: "array", items: { type: "object", ...none } },
    entries: { type: "object", additionalProperties: { type: "object", ...none } },
    ofText: { ...text, ...none },
    ofList: { type: "array", items: text, ...none },
    preserving: { type: "object", ...none, ...free },
    anything: { ...none, ...free },
    either: { ...none, "x-kubernetes-int-or-string": true },
    allOf: { type: "object", allOf: [none], additionalProperties: true },
    not: { type: "object", not: none, additionalProperties: true },
    counted: { type: "object", minProperties: 1, maxProperties: 1, ...none },
    needed: { type: "object", required: ["a"], ...none },
    trueOfText: { ...text, additionalProperties: true },
    trueBeside: object({ a: text }, { additionalProperties: true }),
    numbersOfText: { ...text, ...numbers },
    numbersOfList: { type: "array", items: object({}), ...numbers },
    numbersOfAny: { ...numbers, ...free },
  }
  const values: Json[] = [{}, { a: "x" }, { a: { b: 1 } }, { constructor: 1 }, [{ a: 1 }, {}], [["x"]], "x", 5]
  return [...definedWith(group, fields), ...tried(fields, values), ...tried(fields, values, "&fieldValidation=Strict")]
}

function anyValues(): RequestStep[] {
  const fields = {
    listed: { ...nullableText, enum: ["a"] },
    listedNull: { ...nullableText, enum: ["a", null] },
    not: { ...nullableText, not: { maxLength: 5 } },
    allOf: { ...nullableText, allOf: [{ minLength: 1 }, { enum: ["a"] }] },
    listedNumber: { ...free, nullable: true, enum: [1] },
    items: { type: "array", items: { ...nullableText, enum: ["a"] } },
    defaultItems: { type: "array", items: { ...text, default: "x" } },
    defaultEntries: { type: "object", additionalProperties: { ...text, default: "x" } },
    tree: { ...free, properties: { a: { type: "integer" } }, items: text },
    listEntries: { type: "object", additionalProperties: { type: "array", items: { type: "integer" } } },
  }
  const values = [null, [null], ["a", null], { a: null }, { a: 1 }, { a: [null] }, "a", {}, [], [1], [{ a: 1 }], 1.5]
  return [...definedWith(group, fields), ...tried(fields, values)]
}

function nulls(): RequestStep[] {
  const fields = {
    text,
    object: object({ a: text, d: { ...text, default: "x" } }),
    nullable: nullableText,
    default: { ...text, default: "x" },
    nullableDefault: { ...nullableText, default: "x" },
    list: { type: "array", items: text },
    map: { type: "object", additionalProperties: text },
    any: free,
    either: { "x-kubernetes-int-or-string": true },
    deep: object({ x: object({ y: { type: "integer" }, z: { type: "integer", default: 3 } }) }),
    items: { type: "array", items: object({ y: { type: "integer" } }) },
    entries: { type: "object", additionalProperties: object({ y: { type: "integer" } }) },
  }
  const below: [string, Json][] = [
    ["deep", { x: null }],
    ["deep", { x: { y: null } }],
    ["deep", { x: { z: null } }],
    ["map", { a: null }],
    ["list", [null]],
    ["items", [{ y: null }]],
    ["entries", { a: null }],
    ["entries", { a: { y: null } }],
    ["object", { a: null }],
    ["object", { d: null }],
    ["any", { a: null }],
  ]
  const all: [string, Json][] = [...Object.keys(fields).map((name): [string, Json] => [name, null]), ...below]
  const full = { text: "a", object: { a: "x" }, nullable: "a", list: ["a"], map: { a: "b" }, deep: { x: { y: 1 } } }
  const [path, forced] = [`${things}/a`, "fieldManager=x&force=true"]
  const shown = (name: string, value: Json): string => JSON.stringify({ [name]: value })
  return [
    ...definedWith(group, fields),
    ...all.map(([name, value]) =>
      patch(`${path}${dryRun}&${forced}`, applyPatch, thing({ [name]: value }), {
        label: `APPLY new ${shown(name, value)}`,
      }),
    ),
    post(things, thing({ ...full, any: { a: 1 }, items: [{ y: 1 }], entries: { a: { y: 1 } } })),
    ...all.flatMap(([name, value]) => [
      patch(`${path}${dryRun}`, mergePatch, { spec: { [name]: value } }, { label: `MERGE ${shown(name, value)}` }),
      patch(`${path}${dryRun}`, jsonPatch, [{ op: "add", path: `/spec/${name}`, value }], {
        label: `JSON ${shown(name, value)}`,
      }),
      put(`${path}${dryRun}`, thing({ [name]: value }), { label: `PUT ${shown(name, value)}` }),
    ]),
    ...all.flatMap(([name, value]) => [
      patch(`${path}?${forced}`, applyPatch, thing({ [name]: value }), { label: `APPLY ${shown(name, value)}` }),
      patch(`${path}?${forced}`, applyPatch, thing({}), { label: `APPLY without ${shown(name, value)}` }),
    ]),
  ]
}

/** They are dropped where the object is stored, and until then are a change. */
function unnamed(): RequestStep[] {
  const apply = (spec: Json): RequestStep =>
    patch(`${things}/a?fieldManager=m`, applyPatch, JSON.stringify(thing(spec)), {
      label: `APPLY ${JSON.stringify(spec)}`,
    })
  const specs: Json[] = [
    { any: {} },
    { any: { x: 1 } },
    { any: { x: 1 } },
    { any: { x: null } },
    { any: {}, bogus: 1 },
    {},
  ]
  return [...definedWith(group, { any: { type: "object" } }), ...specs.map(apply), get(`${things}/a`)]
}
