// Managed fields of custom resources that a client wrote itself: entries that no server writes, and of versions that are not there,
// or no longer. Upstream drops all managers with those of a version that it cannot convert to, and refuses to apply.

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
} from "../scenario.ts"
import { definitionOf, definitions } from "./things.ts"

export function customManagerCases(): Scenario[] {
  return [
    { name: "managed fields are written that no server has", anyOrder: true, steps: odd() },
    { name: "managers of an object are reset, or not", steps: reset() },
    { name: "a custom resource has managers of unknown versions", steps: ofUnknownVersions() },
    { name: "a definition no longer has the version of a manager", steps: ofRemovedVersion() },
    { name: "metadata of a custom resource is applied that cannot be read", steps: unread() },
  ]
}

const group = "m@{id}.example.com"
const listIn = (version = "v1"): string => `/apis/${group}/${version}/namespaces/@{ns}/things`
const things = listIn()
const thing = (metadata: object, spec: object = {}, version = "v1"): Json =>
  ({ apiVersion: `${group}/${version}`, kind: "Thing", metadata, spec }) as Json

const embedded = {
  type: "object",
  "x-kubernetes-embedded-resource": true,
  "x-kubernetes-preserve-unknown-fields": true,
}
const spec = { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { one: embedded } }
const schema = { openAPIV3Schema: { type: "object", properties: { spec } } }
const scale = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" }
const v1 = { name: "v1", served: true, storage: true, schema, subresources: { scale } }
const v1beta1 = { name: "v1beta1", served: true, storage: false, schema }

function served(...versions: object[]): RequestStep[] {
  return [
    post(definitions, definitionOf(group, {}, {}, { versions }) as Json, { label: "WRITE definition" }),
    get(things, { untilCode: 200 }),
  ]
}

const managerOf = (apiVersion: string, more: object = {}): object => ({
  manager: "m",
  operation: "Update",
  apiVersion,
  fieldsType: "FieldsV1",
  fieldsV1: { "f:spec": {} },
  ...more,
})

const oddities: [string, object][] = [
  ["longest", { manager: "m".repeat(128), subresource: "s".repeat(256) }],
  ["long name", { manager: "m".repeat(129) }],
  ["long name in bytes", { manager: "é".repeat(65) }],
  ["odd name", { manager: "m\n\u0000é\u200b" }],
  ["long subresource", { subresource: "s".repeat(257) }],
  ["no operation", { operation: "" }],
  ["odd operation", { operation: "Bogus" }],
  ["odd type", { fieldsType: "FieldsV2" }],
  ["no type", { fieldsType: "" }],
  ["odd and long", { manager: `\t${"m".repeat(128)}`, operation: "Bogus", fieldsType: "FieldsV2" }],
]

/** Of a custom resource, of an object within it, and of a ConfigMap. */
function odd(): RequestStep[] {
  const maps = "/api/v1/namespaces/@{ns}/configmaps"
  const map = (metadata: object): Json => ({ metadata, data: { a: "b" } }) as Json
  const written = (where: string, what: string, object: (metadata: object) => Json, managedFields: Json) => {
    const path = `${where}/a?dryRun=All`
    const label = (verb: string): { label: string } => ({ label: `${verb} ${what} to ${where}` })
    return [
      post(`${where}?dryRun=All`, object({ name: "b", managedFields }), label("POST")),
      put(
        path,
        object({ name: "a", resourceVersion: "@{made.metadata.resourceVersion}", managedFields }),
        label("PUT"),
      ),
      patch(path, mergePatch, { metadata: { managedFields } }, label("MERGE")),
    ]
  }
  return [
    ...served(v1),
    post(things, thing({ name: "a" }), { save: "made" }),
    ...oddities.flatMap(([what, more]) => {
      const entries = [managerOf(`${group}/v1`), managerOf(`${group}/v1`, more)] as Json
      const one = { apiVersion: "v1", kind: "Pod", metadata: { managedFields: entries } }
      return [
        ...written(things, what, thing, entries),
        post(`${things}?dryRun=All`, thing({ name: "b" }, { one }), { label: `POST ${what} within` }),
      ]
    }),
    post(maps, map({ name: "a" }), { save: "made" }),
    ...oddities.flatMap(([what, more]) => written(maps, what, map, [managerOf("v1", more)] as Json)),
  ]
}

/** Custom resources have no empty lists in their metadata, so only an empty entry resets them. */
function reset(): RequestStep[] {
  const maps = "/api/v1/namespaces/@{ns}/configmaps"
  const map = (metadata: object, data: object = {}): Json =>
    ({ apiVersion: "v1", kind: "ConfigMap", metadata, data }) as Json
  const fields = { a: "1", b: "2" }
  return [
    ...served(v1),
    ...[
      { where: things, object: thing },
      { where: maps, object: map },
    ].flatMap(({ where, object }) => [
      patch(`${where}/a?fieldManager=one`, applyPatch, object({ name: "a" }, fields)),
      ...[[], [{}], null].flatMap((managedFields, index) => {
        const label = (verb: string): { label: string } => ({
          label: `${verb} ${where} ${JSON.stringify(managedFields)}`,
        })
        const operation = { op: "replace", path: "/metadata/managedFields", value: managedFields }
        return [
          patch(`${where}/a?dryRun=All`, mergePatch, { metadata: { managedFields } }, label("MERGE")),
          patch(`${where}/a?dryRun=All`, jsonPatch, [operation], label("JSON")),
          put(`${where}/a?dryRun=All`, object({ name: "a", resourceVersion: "", managedFields }, fields), label("PUT")),
          post(where, object({ name: `n${index}`, managedFields }, fields), label("POST")),
          get(`${where}/n${index}`),
        ]
      }),
      patch(`${where}/a`, mergePatch, { metadata: { managedFields: [] } }, { label: `RESET ${where}` }),
      patch(`${where}/a?fieldManager=two`, applyPatch, object({ name: "a" }, { a: "3" })),
    ]),
  ]
}

function ofUnknownVersions(): RequestStep[] {
  const own = managerOf(`${group}/v1`)
  const all = [
    [own],
    [managerOf(`${group}/v1`, { time: "0001-01-01T00:00:00Z" })],
    [managerOf("v1")],
    [own, managerOf("v1", { manager: "n" })],
    [managerOf(`${group}/v2`)],
    [managerOf("other.example.com/v1")],
    [managerOf("a/b/c")],
  ]
  const kept = { name: "a", resourceVersion: "@{made.metadata.resourceVersion}" }
  return [
    ...served(v1),
    post(things, thing({ name: "a" }, { a: 1 }), { save: "made" }),
    ...all.flatMap((managedFields) => {
      const versions = managedFields.map((entry) => (entry as { apiVersion: string }).apiVersion)
      const label = (verb: string): { label: string } => ({ label: `${verb} managers in ${versions.join(" and ")}` })
      return [
        post(`${things}?dryRun=All`, thing({ name: "b", managedFields }), label("POST")),
        put(`${things}/a?dryRun=All`, thing({ ...kept, managedFields }, { a: 1 }), label("PUT")),
        put(`${things}/a?dryRun=All`, thing({ ...kept, managedFields }, { b: 2 }), label("PUT other")),
        patch(`${things}/a?dryRun=All`, mergePatch, { metadata: { managedFields } } as Json, label("MERGE")),
      ]
    }),
  ]
}

function ofRemovedVersion(): RequestStep[] {
  const beta = listIn("v1beta1")
  const apply = (name: string, of: object, query: string): RequestStep =>
    patch(`${things}/${name}?dryRun=All&${query}`, applyPatch, thing({ name }, of), {
      label: `APPLY ${name} ${JSON.stringify(of)} ${query}`,
    })
  return [
    ...served(v1, v1beta1),
    post(`${beta}?fieldManager=old`, thing({ name: "a" }, { a: 1, replicas: 1 }, "v1beta1")),
    patch(`${beta}/b?fieldManager=older`, applyPatch, thing({ name: "b" }, { a: 1 }, "v1beta1")),
    patch(`${things}/b?fieldManager=new`, applyPatch, thing({ name: "b" }, { b: 1 })),
    patch(`${definitions}/things.${group}`, mergePatch, { spec: { versions: [v1] } } as Json, {
      label: "WRITE definition without v1beta1",
    }),
    get(beta, { untilCode: 404 }),
    ...["a", "b"].flatMap((name) => [
      get(`${things}/${name}`, { save: "made" }),
      put(
        `${things}/${name}?dryRun=All`,
        thing({ name, resourceVersion: "@{made.metadata.resourceVersion}" }, { c: 1 }),
      ),
      patch(`${things}/${name}?dryRun=All`, mergePatch, { spec: { d: 1 } }),
      patch(
        `${things}/${name}?dryRun=All`,
        mergePatch,
        { metadata: { labels: { a: "b" } } },
        { label: `LABEL ${name}` },
      ),
      apply(name, { c: 2 }, "fieldManager=x"),
      apply(name, { c: 2 }, "fieldManager=older"),
      apply(name, { a: 2 }, "fieldManager=x"),
      apply(name, { a: 2 }, "fieldManager=x&force=true"),
      patch(`${things}/${name}/scale?dryRun=All`, mergePatch, { spec: { replicas: 5 } }),
      patch(`${things}/${name}`, mergePatch, { spec: { replicas: 5 } }, { label: `PATCH ${name} for good` }),
      apply(name, { c: 2 }, "fieldManager=x&force=false"),
      remove(`${things}/${name}`),
    ]),
  ]
}

function unread(): RequestStep[] {
  const times = ["x", "", 1, {}, null, "null", "2020-01-01", "2020-01-01T00:00:00Z"]
  const fields = [
    ...times.map((time) => ({ creationTimestamp: time })),
    { deletionTimestamp: "x" },
    { deletionTimestamp: "0001-01-01T00:00:00Z" },
    { creationTimestamp: "0001-01-01T01:00:00+01:00" },
    { generation: 1.5 },
    { generation: 3 },
    { generation: "x" },
    { deletionGracePeriodSeconds: 1.5 },
  ]
  const applied = (name: string, more: object): RequestStep =>
    patch(`${things}/${name}?dryRun=All&fieldManager=x`, applyPatch, thing({ name, ...more }), {
      label: `APPLY ${name} ${JSON.stringify(more)}`,
    })
  return [
    ...served(v1),
    post(things, thing({ name: "a" }), { untilCode: 201 }),
    ...fields.flatMap((more) => [applied("a", more), applied("new", more)]),
  ]
}
