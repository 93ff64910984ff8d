// The status of a custom resource is checked by itself when it is written, and what a version knows that the stored one does not
// is not kept.

import type { Json } from "../../../../apimachinery/object.ts"
import { applyPatch, get, mergePatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"
import { asTable } from "../generate/life-scenarios.ts"
import { definitionOf, definitions } from "./things.ts"

export function customStatusCases(): Scenario[] {
  return [
    { name: "a custom resource's status has faults", anyOrder: true, steps: faultyStatuses() },
    { name: "a custom resource is written in another version than it is stored in", anyOrder: true, steps: versions() },
  ]
}

const group = "u@{id}.example.com"
const things = (version = "v1"): string => `/apis/${group}/${version}/namespaces/@{ns}/things`
const dryRun = "dryRun=All"
const text = { type: "string" }
const object = (properties: object, more: object = {}): object => ({ type: "object", properties, ...more })
const schema = (properties: object): object => ({ schema: { openAPIV3Schema: object(properties) } })
const thing = (more: object, version = "v1", name = "a"): Json =>
  ({ apiVersion: `${group}/${version}`, kind: "Thing", metadata: { name }, ...more }) as Json

function faultyStatuses(): RequestStep[] {
  const status = object(
    {
      phase: { ...text, enum: ["a", "b"], maxLength: 3 },
      replicas: { type: "integer", minimum: 1 },
      list: { type: "array", maxItems: 1, items: object({ a: text }, { required: ["a"], minProperties: 2 }) },
      choice: object({ a: text, b: text }, { oneOf: [{ required: ["a"] }, { required: ["b"] }] }),
      set: { type: "array", "x-kubernetes-list-type": "set", items: text },
    },
    { minProperties: 1, "x-kubernetes-validations": [{ rule: "self.phase != 'b'", message: "no b" }] },
  )
  const spec = object({ replicas: { type: "integer", nullable: true } })
  const scale = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" }
  const version = { subresources: { status: {}, scale }, ...schema({ spec, status }) }
  const statuses: Json[] = [
    {},
    [],
    "text",
    null,
    { phase: "c" },
    { phase: "b" },
    { phase: "long" },
    { phase: 1, replicas: 0 },
    { replicas: "x" },
    { replicas: -1 },
    { list: [{}, 1, { b: 1 }] },
    { choice: {} },
    { choice: { a: "a", b: "b" } },
    { set: ["a", "a"] },
    { unknown: 1 },
  ]
  return [
    post(definitions, definitionOf(group, {}, version) as Json),
    get(things(), { untilCode: 200 }),
    post(things(), thing({ spec: {} }), { save: "made" }),
    post(`${things()}?${dryRun}`, thing({ spec: { replicas: null } }, "v1", "b"), { label: "POST no replicas" }),
    patch(`${things()}/c?fieldManager=x&${dryRun}`, applyPatch, thing({ spec: { replicas: null } }, "v1", "c"), {
      label: "APPLY no replicas",
    }),
    ...statuses.flatMap((one) => {
      const label = JSON.stringify(one)
      const metadata = { name: "a", resourceVersion: "@{made.metadata.resourceVersion}" }
      const own = `${things()}/a/status?${dryRun}`
      return [
        put(own, thing({ metadata, status: one }), { label: `PUT ${label}` }),
        patch(own, mergePatch, { status: one }, { label: `MERGE ${label}` }),
        patch(`${own}&fieldManager=x`, applyPatch, thing({ status: one }), { label: `APPLY ${label}` }),
      ]
    }),
  ]
}

function versions(): RequestStep[] {
  const common = { size: { type: "integer" } }
  const kept = {
    old: text,
    nested: object({ old: text, both: text }),
    any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  }
  const column = { name: "Old", type: "string", jsonPath: ".spec.old" }
  const all = {
    versions: [
      {
        name: "v1",
        served: true,
        storage: false,
        additionalPrinterColumns: [column],
        ...schema({ spec: object({ ...common, ...kept }) }),
      },
      {
        name: "v2",
        served: true,
        storage: true,
        ...schema({
          spec: object({
            ...common,
            mode: { ...text, default: "new" },
            nested: object({ both: text }),
            any: object({ a: text }),
          }),
        }),
      },
    ],
  }
  const spec = { size: 1, old: "x", nested: { old: "x", both: "y" }, any: { a: "a", b: "b" } }
  return [
    post(definitions, definitionOf(group, {}, {}, all) as Json),
    ...["v1", "v2"].map((version) => get(things(version), { untilCode: 200 })),
    post(`${things()}?${dryRun}`, thing({ spec }), { headers: asTable, label: "POST dry, as a table" }),
    post(`${things()}?${dryRun}`, thing({ spec }), { label: "POST dry" }),
    post(things(), thing({ spec }), { save: "made" }),
    ...["v1", "v2"].map((version) => get(`${things(version)}/a`)),
    patch(`${things()}/a?${dryRun}`, mergePatch, { spec: { old: "z" } }, { label: "MERGE old dry" }),
    patch(`${things()}/a`, mergePatch, { spec: { old: "z" } }, { label: "MERGE old" }),
    patch(`${things()}/a`, mergePatch, { spec: { size: 2, old: "z" } }, { label: "MERGE size" }),
    patch(`${things()}/b?fieldManager=x`, applyPatch, thing({ spec }, "v1", "b"), { label: "APPLY v1" }),
    get(things("v1")),
  ]
}
