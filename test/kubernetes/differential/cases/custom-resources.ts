// CustomResourceDefinitions and the objects of the kinds they make.

import type { Json } from "../../../../apimachinery/object.ts"
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  remove,
  type RequestStep,
  type Scenario,
  strategicPatch,
  watch,
} from "../scenario.ts"
import { asMetadataList, asTable } from "../generate/life-scenarios.ts"
import { definition, definitions, group, served, thing, things } from "./things.ts"

const specs: readonly Json[] = [
  { size: 1 },
  {},
  { size: "1" },
  { size: 1.5 },
  { size: -1 },
  { size: 11 },
  { size: null },
  { size: 1, color: "blue" },
  { size: 1, color: null },
  { size: 1, name: "A" },
  { size: 1, name: "abcdefg" },
  { size: 1, ratio: 0.3 },
  { size: 1, ratio: 1 },
  { size: 1, when: "yesterday" },
  { size: 1, any: { x: [1, { y: null }] } },
  { size: 1, port: "http" },
  { size: 1, port: 1.5 },
  { size: 1, port: true },
  { size: 1, tags: ["a", "a"] },
  { size: 1, tags: ["a", "b", "c", "d"] },
  { size: 1, tags: "a" },
  { size: 1, parts: [{ name: "a" }, { name: "a" }] },
  { size: 1, parts: [{ count: 2 }] },
  { size: 1, parts: [{ name: "a" }, { name: "b", count: 5 }] },
  { size: 1, labels: { a: "b" } },
  { size: 1, labels: { a: 1 } },
  { size: 1, labels: { a: "1", b: "2", c: "3" } },
  { size: 1, nothing: null },
  { size: 1, choice: {} },
  { size: 1, choice: { a: "x" } },
  { size: 1, choice: { a: "x", b: "y" } },
  { size: 1, bogus: { x: 1 } },
  [1],
  "text",
]

export function customResourceCases(): Scenario[] {
  return [
    {
      name: "a custom resource is validated, defaulted and pruned",
      steps: [
        ...served,
        ...specs.flatMap((spec) => [
          post(`${things}?dryRun=All`, thing(spec), { label: `POST ${JSON.stringify(spec)}` }),
          post(`${things}?dryRun=All&fieldValidation=Strict`, thing(spec), {
            label: `POST strict ${JSON.stringify(spec)}`,
          }),
        ]),
        post(things, { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" } }, { label: "POST no spec" }),
        post(things, { metadata: { name: "a" }, spec: { size: 1 } }, { label: "POST no kind" }),
        post(things, { ...(thing({ size: 1 }) as object), kind: "Other" }, { label: "POST other kind" }),
        post(things, { ...(thing({ size: 1 }) as object), metadata: { name: "Bad_Name" } }, { label: "POST bad name" }),
        post(
          things,
          { ...(thing({ size: 1 }) as object), metadata: { name: "a", bogus: 1 } },
          { label: "POST bad meta" },
        ),
        post(
          things,
          { ...(thing({ size: 1 }) as object), metadata: { name: "a", finalizers: ["plain"] } },
          {
            label: "POST plain finalizer",
          },
        ),
      ],
    },
    { name: "a custom resource lives from create to delete", steps: life() },
    { name: "a custom resource is patched in every way", steps: patches() },
    { name: "a custom resource is watched", steps: watched() },
    { name: "a custom resource has subresources", steps: subresources() },
    { name: "a definition is validated", steps: definitionFaults() },
    { name: "a definition is changed and goes away", steps: definitionLife() },
  ]
}

function life(): RequestStep[] {
  return [
    ...served,
    get(`/apis/${group}`),
    get(`/apis/${group}/v1`),
    post(things, thing({ size: 1, color: "green" }), { save: "a" }),
    post(things, thing({ size: 2 }, "b")),
    post(things, thing({ size: 2 }, "b"), { label: "POST again" }),
    get(`${things}/a`),
    get(things),
    get(things, { headers: asTable, label: "LIST table" }),
    get(things, { headers: asMetadataList, label: "LIST metadata" }),
    get(things, { headers: { accept: "application/yaml" }, label: "LIST yaml" }),
    get(things, { headers: { accept: "application/vnd.kubernetes.protobuf" }, label: "LIST protobuf" }),
    get(`${things}?fieldSelector=spec.color%3Dgreen`),
    get(`${things}?fieldSelector=spec.size%3D1`),
    get(`${things}?limit=1`),
    put(`${things}/a`, thing({ size: 3 })),
    put(
      `${things}/a`,
      thing({ size: 3 }, "a", { metadata: { name: "a", resourceVersion: "@{a.metadata.resourceVersion}" } }),
      {
        label: "PUT old revision",
      },
    ),
    get(`${things}/a`, { save: "now" }),
    put(
      `${things}/a`,
      thing({ size: 4 }, "a", { metadata: { name: "a", resourceVersion: "@{now.metadata.resourceVersion}" } }),
      {
        label: "PUT right revision",
      },
    ),
    put(`${things}/absent`, thing({ size: 3 }, "absent")),
    remove(`${things}/a`),
    get(`${things}/a`, { label: "GET deleted" }),
    remove(things),
    get(things, { label: "LIST none" }),
  ]
}

function patches(): RequestStep[] {
  return [
    ...served,
    post(things, thing({ size: 1, tags: ["a"], parts: [{ name: "a" }] })),
    patch(`${things}/a`, mergePatch, { spec: { size: 2, tags: ["b"] } }),
    patch(`${things}/a`, mergePatch, { spec: { size: "x" } }),
    patch(`${things}/a`, mergePatch, { spec: { bogus: 1 } }),
    patch(`${things}/a?fieldValidation=Strict`, mergePatch, { spec: { bogus: 1 } }),
    patch(`${things}/a`, jsonPatch, [{ op: "add", path: "/spec/tags/-", value: "c" }]),
    patch(`${things}/a`, strategicPatch, { spec: { size: 3 } }),
    patch(`${things}/a?fieldManager=me`, applyPatch, thing({ size: 5, parts: [{ name: "b" }] })),
    patch(`${things}/a?fieldManager=me&force=true`, applyPatch, thing({ size: 5, parts: [{ name: "b" }] })),
    patch(`${things}/new?fieldManager=me`, applyPatch, thing({ size: 5 }, "new")),
    get(`${things}/a`),
  ]
}

function watched(): Scenario["steps"] {
  return [
    ...served,
    get(things, { save: "list", label: "LIST" }),
    watch(`${things}?resourceVersion=@{list.metadata.resourceVersion}`),
    watch(`${things}?resourceVersion=@{list.metadata.resourceVersion}`, { headers: asTable }),
    post(things, thing({ size: 1 })),
    patch(`${things}/a`, mergePatch, { spec: { size: 2 } }),
    patch(`${things}/a/status`, mergePatch, { status: { replicas: 2 } }),
    remove(`${things}/a`),
  ]
}

function subresources(): RequestStep[] {
  return [
    ...served,
    post(things, thing({ size: 1 }, "a", { status: { replicas: 7 } })),
    get(`${things}/a/status`),
    patch(`${things}/a/status`, mergePatch, { spec: { size: 9 }, status: { replicas: 3, phase: "x", bogus: 1 } }),
    put(`${things}/a/status`, thing({ size: 1 }, "a", { status: { replicas: "x" } })),
    get(`${things}/a/scale`),
    put(`${things}/a/scale`, { metadata: { name: "a" }, spec: { replicas: 4 } }),
    patch(`${things}/a/scale`, mergePatch, { spec: { replicas: 5 } }),
    patch(`${things}/a/scale`, mergePatch, { spec: { replicas: 50 } }),
    patch(`${things}/a/scale`, mergePatch, { spec: { replicas: -1 } }),
    get(`${things}/a`),
    get(`${things}/a/bogus`),
  ]
}

function definitionFaults(): RequestStep[] {
  const withSchema = (openAPIV3Schema: Json): Json => definition({ schema: { openAPIV3Schema } })
  const property = (field: Json): Json =>
    withSchema({ type: "object", properties: { spec: { type: "object", properties: { field } } } })
  const faults: Json[] = [
    definition({}, { group: "other.example.com" }),
    definition({}, { scope: "Bogus" }),
    definition({}, { names: { plural: "Things", kind: "thing" } }),
    definition({}, { names: { plural: "things" } }),
    definition({}, { versions: [] }),
    definition({ storage: false }),
    definition({ name: "Bad_Version" }),
    definition({ schema: undefined as unknown as Json }),
    definition({ subresources: { scale: { specReplicasPath: ".status.x", statusReplicasPath: "x" } } }),
    definition({ additionalPrinterColumns: [{ name: "x", type: "bogus", jsonPath: "x" }] }),
    definition({ selectableFields: [{ jsonPath: ".spec.absent" }] }),
    definition({}, { conversion: { strategy: "Webhook" } }),
    definition({ deprecated: true, deprecationWarning: "x".repeat(257) }),
    definition({ deprecated: true, deprecationWarning: "" }),
    definition({ deprecated: true, deprecationWarning: "ü\n" }),
    definition({ deprecationWarning: "not deprecated" }),
    definition({}, { preserveUnknownFields: true }),
    withSchema({}),
    withSchema({ type: "string" }),
    withSchema({ type: "object", properties: { spec: {} } }),
    withSchema({
      type: "object",
      properties: { metadata: { type: "object", properties: { labels: { type: "object" } } } },
    }),
    property({ type: "bogus" }),
    property({ type: "array" }),
    property({ type: "string", default: 1 }),
    property({ type: "string", pattern: "(" }),
    property({ type: "string", format: "bogus" }),
    property({ type: "object", additionalProperties: false }),
    property({ type: "object", additionalProperties: { type: "object", definitions: {}, patternProperties: {} } }),
    property({ type: "object", additionalProperties: { type: "string" }, properties: { a: { type: "string" } } }),
    property({ type: "array", items: { type: "string" }, uniqueItems: true }),
    property({ type: "array", items: { type: "string" }, "x-kubernetes-list-type": "bogus" }),
    property({ type: "array", items: { type: "object" }, "x-kubernetes-list-type": "map" }),
    property({ "x-kubernetes-int-or-string": true, type: "string" }),
    property({ type: "integer", minimum: 5, maximum: 1 }),
    property({ type: "string", nullable: true, default: null }),
    property({ type: "string", "x-kubernetes-validations": [{ rule: "self.size() < 5" }] }),
    property({ type: "string", "x-kubernetes-validations": [{ rule: "self.bogus()" }] }),
    property({ type: "string", "x-kubernetes-validations": [{ rule: "" }] }),
    property({ allOf: [{ type: "string" }] }),
  ]
  return faults.map((body, index) =>
    post(`${definitions}?dryRun=All`, body, { label: `POST definition fault ${index}` }),
  )
}

function definitionLife(): RequestStep[] {
  const path = `${definitions}/things.${group}`
  return [
    ...served,
    post(things, thing({ size: 1 })),
    get(`${path}/status`),
    patch(path, mergePatch, { spec: { names: { shortNames: ["th"] } } }),
    patch(path, mergePatch, { spec: { scope: "Cluster" } }),
    patch(path, mergePatch, { spec: { group: "x.example.com" } }),
    patch(path, mergePatch, { spec: { names: { kind: "Other" } } }),
    remove(path),
    get(things, { untilCode: 404, label: "LIST when gone" }),
    get(`/apis/${group}`, { untilCode: 404, label: "GET group when gone" }),
  ]
}
