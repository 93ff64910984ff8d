// Objects with more than a hundred faults, of one kind or of several: all are reported, except those of strict decoding.

import type { Json } from "../../../../apimachinery/object.ts"
import { applyPatch, get, mergePatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"
import { definedWith } from "./things.ts"

type Body = Record<string, Json>

const count = 150
const maps = "/api/v1/namespaces/@{ns}/configmaps"
const pods = "/api/v1/namespaces/@{ns}/pods"
const group = "y@{id}.example.com"
const things = `/apis/${group}/v1/namespaces/@{ns}/things`

export function manyFaultCases(): Scenario[] {
  return [
    { name: "an object has many faults", anyOrder: true, steps: builtIn() },
    { name: "a custom resource has many faults", anyOrder: true, steps: custom() },
    { name: "a custom resource has many faults in order", steps: ordered() },
  ]
}

const each = <T>(make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index))
const mapOf = <T>(make: (index: number) => T, name = (index: number): string => `k${index}`): Record<string, T> =>
  Object.fromEntries(each((index) => [name(index), make(index)]))

function builtIn(): RequestStep[] {
  const pod = (spec: Body, metadata: Body = {}): Json => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a", ...metadata },
    spec: { containers: [{ name: "c", image: "i" }], ...spec },
  })
  const tried: [string, Json][] = [
    ["names", pod({ containers: each((index) => ({ name: `C${index}`, image: "" })) })],
    ["equal names", pod({ containers: each(() => ({ name: "c", image: "i" })) })],
    [
      "labels",
      pod(
        {},
        {
          labels: mapOf(
            () => "-",
            (index) => `k${index}-`,
          ),
        },
      ),
    ],
    ["volumes", pod({ volumes: each((index) => ({ name: `v${index}`, emptyDir: {}, hostPath: { path: "" } })) })],
    ["unknown fields", pod(mapOf(() => 1))],
    ["wrong types", pod({ containers: each(() => 7) })],
    ["both", pod({ ...mapOf(() => 1), containers: each((index) => ({ name: `C${index}`, image: "" })) })],
  ]
  return [
    ...tried.flatMap(([what, body]) =>
      ["", "Strict", "Ignore"].map((validation) =>
        post(`${pods}?fieldValidation=${validation}&dryRun=All`, body, { label: `POST ${what} ${validation}` }),
      ),
    ),
    post(`${maps}?dryRun=All`, {
      metadata: { name: "a" },
      data: mapOf(
        () => "x",
        (index) => `${index}/`,
      ),
    }),
    post(
      `${maps}?dryRun=All&fieldValidation=Strict`,
      `{"metadata":{"name":"a"},"data":{${each((index) => `"a${index}":"1","a${index}":"2"`).join(",")}}}`,
      { label: "POST repeated keys" },
    ),
  ]
}

const set = { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" }
const properties = {
  list: { type: "array", items: { type: "integer", maximum: 5 } },
  map: { type: "object", additionalProperties: { type: "string", maxLength: 2 } },
  set,
  parts: {
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    items: { type: "object", required: ["name"], properties: { name: { type: "string" }, size: { type: "integer" } } },
  },
  ruled: {
    type: "array",
    maxItems: 200,
    items: { type: "integer", "x-kubernetes-validations": [{ rule: "self > 1000", message: "too small" }] },
  },
  embedded: {
    type: "array",
    items: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
  },
  either: {
    type: "array",
    items: { type: "integer", anyOf: [{ minimum: 1000 }, { maximum: -1 }] },
  },
}

const thing = (spec: Body, name = "a"): Json => ({
  apiVersion: `${group}/v1`,
  kind: "Thing",
  metadata: { name },
  spec,
})

const specs: Readonly<Record<string, Body>> = {
  "wrong types": { list: each(() => "x") },
  "too large": { list: each((index) => index + 6) },
  "a map": { map: mapOf(() => "long") },
  "a set": { set: each(() => "x") },
  "pairs in a set": { set: [...each((index) => `x${index}`), ...each((index) => `x${index}`)] },
  "parts without names": { parts: each((index) => ({ size: index })) },
  "equal parts": { parts: each(() => ({ name: "x" })) },
  "broken rules": { ruled: each((index) => index) },
  "broken rules and others": { ruled: each((index) => index), list: each((index) => index + 6), set: each(() => "x") },
  "embedded objects": { embedded: each((index) => ({ kind: `bad kind ${index}`, metadata: { name: "-" } })) },
  alternatives: { either: each((index) => index) },
  "unknown fields": mapOf((index) => index),
  "all together": {
    ...mapOf((index) => index),
    list: each(() => "x"),
    map: mapOf(() => "long"),
    set: each(() => "x"),
    parts: each(() => ({ name: "x", bogus: 1 })),
  },
}

/** Of fields that are not declared, an apply is told the first in the order of Go's maps. */
const unordered = { "unknown fields": true, "all together": true }

function custom(): RequestStep[] {
  return [
    ...definedWith(group, properties),
    post(things, thing({ list: [1] })),
    ...Object.entries(specs).flatMap(([what, spec]) => [
      ...["", "Strict", "Ignore"].map((validation) =>
        post(`${things}?dryRun=All&fieldValidation=${validation}`, thing(spec, "b"), {
          label: `POST ${what} ${validation}`,
        }),
      ),
      put(`${things}/a?dryRun=All`, thing(spec), { label: `PUT ${what}` }),
      patch(`${things}/a?dryRun=All`, mergePatch, { spec }, { label: `MERGE ${what}` }),
      ...(what in unordered
        ? []
        : [patch(`${things}/a?dryRun=All&fieldManager=m`, applyPatch, thing(spec), { label: `APPLY ${what}` })]),
    ]),
  ]
}

/** The faults of lists have one order. */
function ordered(): RequestStep[] {
  const inOrder = ["wrong types", "too large", "a set", "pairs in a set", "equal parts", "broken rules", "alternatives"]
  return [
    ...definedWith(group, properties),
    ...inOrder.map((what) => post(`${things}?dryRun=All`, thing(specs[what] ?? {}), { label: `POST ${what}` })),
    get(things),
  ]
}
