// Definitions whose root has no type, because it preserves unknown fields: their objects have metadata like any other.

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
import { definitions } from "./things.ts"

export function definitionFreeRootCases(): Scenario[] {
  return [
    { name: "a definition's root has no type", steps: freeRoot("fr@{id}.example.com", {}) },
    {
      name: "a definition's root has no type but names fields",
      anyOrder: true,
      steps: freeRoot("fn@{id}.example.com", {
        required: ["spec"],
        properties: {
          metadata: { type: "object", properties: { name: { type: "string", maxLength: 4 } } },
          spec: { type: "object", properties: { a: { type: "string", default: "x" } } },
          list: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
        },
      }),
    },
    { name: "a definition's root has no type and rules", steps: [ruled("rr@{id}.example.com")] },
  ]
}

const free = { "x-kubernetes-preserve-unknown-fields": true }

function define(group: string, root: object, dryRun = ""): RequestStep {
  const version = { name: "v1", served: true, storage: true, subresources: { status: {} } }
  const versions = [{ ...version, schema: { openAPIV3Schema: { ...free, ...root } } }]
  const spec = { group, scope: "Namespaced", names: { plural: "things", kind: "Thing" }, versions }
  return post(`${definitions}${dryRun}`, { metadata: { name: `things.${group}` }, spec } as unknown as Json)
}

function ruled(group: string): RequestStep {
  return define(group, { "x-kubernetes-validations": [{ rule: "self.metadata.name == 'a'" }] }, "?dryRun=All")
}

function freeRoot(group: string, root: object): RequestStep[] {
  const things = `/apis/${group}/v1/namespaces/@{ns}/things`
  const owner = { apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "u" }
  const thing = (name: string, more: object = {}, metadata: object = {}): Json =>
    ({ apiVersion: `${group}/v1`, kind: "Thing", metadata: { name, ...metadata }, spec: { b: null }, ...more }) as Json
  const whole = { finalizers: ["example.com/a"], ownerReferences: [owner], labels: { a: "b" }, bogus: 1 }
  const applied = { ...whole, bogus: undefined }
  return [
    define(group, root),
    get(things, { untilCode: 200 }),
    post(things, thing("a", { list: ["x"], more: { list: [{ name: "y" }], deep: { z: 1 } }, status: { c: 1 } }, whole)),
    post(`${things}?fieldValidation=Strict`, thing("b", { more: 1 }, whole)),
    post(`${things}?dryRun=All`, thing("longer", { list: 5, spec: [] })),
    patch(`${things}/a?fieldManager=x&force=true`, applyPatch, thing("a", { more: { list: [1] } }, applied)),
    patch(`${things}/a?fieldManager=x`, applyPatch, thing("a", {}, { finalizers: ["example.com/b"] })),
    patch(`${things}/a/status`, mergePatch, { status: { d: { e: 1 } }, metadata: { labels: { c: "d" } } }),
    patch(`${things}/a`, jsonPatch, [{ op: "add", path: "/metadata/finalizers/-", value: "example.com/c" }]),
    put(`${things}/a`, thing("a", { more: null }, { resourceVersion: "1" })),
    get(`${things}/a`, { headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" } }),
    patch(`${things}/a`, jsonPatch, [{ op: "remove", path: "/metadata/finalizers" }]),
    ...["v3", "v2"].map((version) =>
      get(version === "v2" ? "/openapi/v2" : `/openapi/v3/apis/${group}/v1`, {
        document: true,
        untilText: `${group.split(".")[0]}.v1.Thing`,
        label: `GET ${version}`,
      }),
    ),
  ]
}
