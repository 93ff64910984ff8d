// The same of definitions: fields, columns, rules and resources with names that every object of JavaScript inherits.

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
import { all, names, one } from "./inherited-names.ts"

export function customInheritedNameCases(): Scenario[] {
  return [
    { name: "a definition has fields with names that objects inherit", anyOrder: true, steps: fields() },
    { name: "a definition's resource has a name that objects inherit", steps: resource() },
  ]
}

const dryRun = "?dryRun=All"
const group = "i@{id}.example.com"
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

const definitionOf = (plural: string, kind: string, version: object): Json =>
  ({
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, kind },
      versions: [{ name: "v1", served: true, storage: true, ...version }],
    },
  }) as Json

function fields(): RequestStep[] {
  const text = { type: "string" }
  const entry = { type: "object", properties: all(text), required: [...names] }
  const properties = {
    declared: { type: "object", properties: all({ ...text, maxLength: 3 }) },
    defaulted: { type: "object", properties: all({ ...text, default: "x" }), default: {} },
    needed: { type: "object", properties: all(text), required: [...names] },
    pruned: { type: "object", properties: { a: text } },
    kept: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    counted: { type: "object", additionalProperties: { type: "integer" } },
    listed: {
      type: "array",
      items: entry,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["constructor", "__proto__"],
    },
    ruled: {
      type: "object",
      properties: all(text),
      "x-kubernetes-validations": [
        { rule: "!has(self.constructor) || self.constructor != 'bad'", message: "constructor" },
        { rule: "!has(self.toString) || self.toString != 'bad'", message: "toString" },
      ],
    },
  }
  const schema = { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties } } } }
  const columns = names.slice(1).map((name) => ({ name, type: "string", jsonPath: `.spec.declared.${name}` }))
  const things = `/apis/${group}/v1/namespaces/@{ns}/things`
  const thing = (spec: Json): Json => ({ apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" }, spec })
  const values: Json[] = [
    {},
    all("x"),
    all("bad"),
    all(1),
    all(null),
    one("__proto__", { a: 1 }),
    [all("x")],
    [all("x"), all("x")],
  ]
  return [
    post(
      definitions,
      definitionOf("things", "Thing", {
        schema,
        additionalPrinterColumns: columns,
        selectableFields: [{ jsonPath: ".spec.declared.constructor" }],
      }),
    ),
    get(things, { untilCode: 200, label: "LIST when served" }),
    ...Object.keys(properties).flatMap((field) =>
      // Of several undeclared fields upstream tells of any.
      (field === "pruned" ? names.map((name) => one(name, "x")) : values).flatMap((value) => {
        const spec = one(field, value)
        return [
          post(`${things}${dryRun}&fieldValidation=Strict`, thing(spec), { label: `POST ${JSON.stringify(spec)}` }),
          patch(`${things}/a${dryRun}&fieldManager=x`, applyPatch, thing(spec), {
            label: `APPLY ${JSON.stringify(spec)}`,
          }),
        ]
      }),
    ),
    post(things, thing({ declared: all("x"), kept: all({ a: "b" }), listed: [all("x")] })),
    patch(`${things}/a`, mergePatch, { spec: { kept: all({ c: "d" }) } }, { label: "PATCH kept" }),
    patch(`${things}/a`, mergePatch, { spec: { kept: one("__proto__", { c: null }) } }, { label: "PATCH kept, less" }),
    patch(`${things}/a`, jsonPatch, [{ op: "add", path: "/spec/kept/__proto__/e", value: "f" }], {
      label: "PATCH within",
    }),
    patch(`${things}/a`, jsonPatch, [{ op: "add", path: "/spec/kept/hasOwnProperty/e", value: "f" }], {
      label: "PATCH within another",
    }),
    get(`${things}?fieldSelector=spec.declared.constructor%3Dx`),
    get(`${things}?fieldSelector=spec.declared.constructor%3Dy`),
    get(things, { headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" }, label: "LIST table" }),
    get(`${things}/a`, { headers: { accept: "application/yaml" }, label: "GET yaml" }),
  ]
}

function resource(): RequestStep[] {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }
  const path = `/apis/${group}/v1/namespaces/@{ns}/constructor`
  const own = (name: string): Json => ({ apiVersion: `${group}/v1`, kind: "ValueOf", metadata: { name } })
  return [
    post(
      definitions,
      definitionOf("constructor", "ValueOf", {
        schema,
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.constructor", statusReplicasPath: ".status.constructor" },
        },
      }),
    ),
    get(path, { untilCode: 200, label: "LIST when served" }),
    post(path, own("a")),
    put(`${path}/a/scale`, {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "a", namespace: "@{ns}" },
      spec: { replicas: 2 },
    }),
    get(`${path}/a/scale`),
    get(`${path}/a/constructor`),
    get(`/apis/${group}/v1`),
    get(`/apis/${group}`),
    remove(`${path}/a`),
  ]
}
