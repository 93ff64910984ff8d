// Unknown fields of custom resources in every part of them, and the order in which they are told: those of the metadata, of the
// schema, and of the metadata of embedded objects.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, jsonPatch, mergePatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"
import { definitionOf, definitions } from "./things.ts"

const group = "u@{id}.example.com"
const things = `/apis/${group}/v1/namespaces/@{ns}/things`

const embedded = {
  type: "object",
  "x-kubernetes-embedded-resource": true,
  "x-kubernetes-preserve-unknown-fields": true,
}
const named = {
  type: "object",
  "x-kubernetes-embedded-resource": true,
  properties: {
    metadata: { type: "object", properties: { name: { type: "string" } } },
    spec: { type: "object", properties: { size: { type: "integer" } } },
    inner: embedded,
  },
}
const properties = {
  spec: {
    type: "object",
    properties: {
      one: embedded,
      named,
      list: { type: "array", items: embedded },
      map: { type: "object", additionalProperties: embedded },
      kept: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { one: embedded } },
    },
  },
}

const object = (name: string, more: object = {}, metadata: object = {}): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, ...metadata },
  ...more,
})
const odd = {
  odd: 1,
  another: { odd: 1 },
  ownerReferences: [{ apiVersion: "v1", kind: "A", name: "a", uid: "b", odd: 1 }],
}
const specs: [string, object][] = [
  ["one", { one: object("x", { odd: 1 }, odd) }],
  [
    "several",
    { zero: 1, one: object("x", {}, odd), aught: 1, named: object("x", { more: 1, spec: { size: 1, x: 1 } }, odd) },
  ],
  ["within another", { named: object("x", { inner: object("y", {}, odd) }, { odd: 1 }) }],
  ["list", { list: [object("x"), object("y", {}, odd)], zero: 1 }],
  ["map", { map: { "b.c": object("x", {}, odd), a: object("y", {}, odd) }, zero: 1 }],
  ["kept", { kept: { one: object("x", {}, odd), other: { one: object("x", {}, odd) } } }],
  ["none", { one: { ...object("x"), metadata: null }, named: { ...object("x"), metadata: {} }, zero: 1 }],
  ["wrong in a map", { map: { "b.c": object("x", {}, { labels: 5 }) } }],
  ["wrong in a list", { list: [object("x"), object("y", {}, { labels: { a: 5 } })] }],
  ["wrong version in a map", { map: { "b.c": { ...object("x"), apiVersion: 5 } } }],
  ["wrong kind within another", { named: object("x", { inner: { ...object("y"), kind: [] } }) }],
]

export function customUnknownFieldCases(): Scenario[] {
  return [{ name: "a custom resource has unknown fields in all its parts", steps: steps() }]
}

const thing = (spec: object, metadata: object, more: object = {}): Json =>
  ({ apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a", ...metadata }, spec, ...more }) as Json
const served: RequestStep[] = [
  post(definitions, definitionOf(group, {}, { schema: { openAPIV3Schema: { type: "object", properties } } }) as Json, {
    label: "WRITE definition",
  }),
  get(things, { untilCode: 200 }),
  post(things, thing({}, {}), { save: "made" }),
]

function steps(): RequestStep[] {
  const more = { zzz: 1, aaa: 1 }
  const modes = ["Strict", "Warn"]
  return [
    ...served,
    ...specs.flatMap(([what, spec]) =>
      modes.flatMap((mode) => {
        const query = `dryRun=All&fieldValidation=${mode}`
        const label = (verb: string): { label: string } => ({ label: `${verb} ${what}, ${mode}` })
        const revision = { resourceVersion: "@{made.metadata.resourceVersion}" }
        return [
          post(`${things}?${query}`, thing(spec, { ...odd, name: "b" }, more), label("POST")),
          put(`${things}/a?${query}`, thing(spec, { ...odd, ...revision }, more), label("PUT")),
          patch(`${things}/a?${query}`, mergePatch, { spec, zzz: 1, metadata: { odd: 1 } } as Json, label("MERGE")),
          patch(
            `${things}/a?${query}`,
            jsonPatch,
            [{ op: "add", path: "/spec", value: spec }] as Json,
            label("JSON PATCH"),
          ),
        ]
      }),
    ),
  ]
}
