// Objects within custom resources: they have kinds, versions and metadata of their own.

import type { Json } from "../../../../apimachinery/object.ts"
import { applyPatch, get, mergePatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"
import { definitionOf, definitions } from "./things.ts"

export function customEmbeddedCases(): Scenario[] {
  return [{ name: "a custom resource with embedded objects", anyOrder: true, steps: embeddedObjects() }]
}

const group = "e@{id}.example.com"
const things = `/apis/${group}/v1/namespaces/@{ns}/things`
const embedded = {
  type: "object",
  "x-kubernetes-embedded-resource": true,
  "x-kubernetes-preserve-unknown-fields": true,
}
const spec = {
  type: "object",
  properties: {
    one: embedded,
    list: { type: "array", items: embedded },
    map: { type: "object", additionalProperties: embedded },
  },
}
const version = {
  subresources: { status: {} },
  schema: { openAPIV3Schema: { type: "object", properties: { spec, status: { ...spec } } } },
}

const thing = (more: object, name = "a"): Json =>
  ({ apiVersion: `${group}/v1`, kind: "Thing", metadata: { name }, ...more }) as Json

const kinds = { apiVersion: "v1", kind: "Pod" }
const objects: readonly object[] = [
  kinds,
  {},
  { apiVersion: "v1" },
  { kind: "Pod" },
  { apiVersion: "", kind: "" },
  { apiVersion: "a/b/c", kind: "Pod" },
  { apiVersion: "a/", kind: "Bad Kind" },
  { apiVersion: "v1", kind: "pod" },
  { apiVersion: 1, kind: "Pod" },
  { apiVersion: "v1", kind: null },
  { ...kinds, metadata: null },
  { ...kinds, metadata: "text" },
  { ...kinds, metadata: { name: "a/b" } },
  { ...kinds, metadata: { name: "Good Enough", namespace: "Bad" } },
  { ...kinds, metadata: { generateName: "a/" } },
  { ...kinds, metadata: { labels: { "bad key!": "v", good: "bad value!" } } },
  { ...kinds, metadata: { labels: "text" } },
  { ...kinds, metadata: { labels: { a: 1 } } },
  { ...kinds, metadata: { annotations: { "Bad/key/": "v" } } },
  { ...kinds, metadata: { finalizers: ["bad finalizer!", "short"] } },
  { ...kinds, metadata: { ownerReferences: [{ name: "o" }] } },
  { ...kinds, metadata: { generation: -1, bogus: true } },
]

function embeddedObjects(): RequestStep[] {
  const query = "?dryRun=All"
  return [
    post(definitions, definitionOf(group, {}, version) as Json),
    get(things, { untilCode: 200 }),
    ...objects.map((one) =>
      post(`${things}${query}`, thing({ spec: { one } }), { label: `POST ${JSON.stringify(one)}` }),
    ),
    post(`${things}${query}`, thing({ spec: { list: [kinds, {}], map: { a: { kind: "x y" }, b: kinds } } })),
    post(things, thing({ spec: { one: kinds }, status: { one: {} } })),
    ...objects
      .slice(0, 8)
      .flatMap((one) => [
        put(`${things}/a${query}`, thing({ spec: { one } }), { label: `PUT ${JSON.stringify(one)}` }),
        patch(`${things}/a/status${query}`, mergePatch, { status: { one: one as Json } }),
        patch(`${things}/a${query}&fieldManager=m&force=true`, applyPatch, thing({ spec: { one } })),
      ]),
  ]
}
