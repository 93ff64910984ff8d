// What is wrong with the schema of a definition, one fault or several at once.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, post, type RequestStep, type Scenario } from "../scenario.ts"

export function definitionCases(): Scenario[] {
  return [
    { name: "schemas within a definition's schema are read", steps: schemasWithin() },
    { name: "what a custom resource's schema does not name is dropped", steps: dropped() },
    { name: "errors about several versions of a definition", steps: severalVersions() },
  ]
}

const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All"

function definition(versions: object | object[], scope = "Cluster"): Json {
  const [group, names] = ["u@{id}.example.com", { plural: "things", kind: "Thing" }]
  return { metadata: { name: `things.${group}` }, spec: { group, scope, names, versions: [versions].flat() } } as Json
}

function schemasWithin(): RequestStep[] {
  const one = (label: string, spec: Json, more = "", root: object = {}): RequestStep => {
    const openAPIV3Schema = { type: "object", ...root, properties: { spec } }
    const body = definition({ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } })
    return post(path + more, body, { label: `POST ${label}` })
  }
  return [
    one("items wrong type", { type: "array", items: { type: 5 } }),
    one("items deep wrong type", { type: "array", items: { type: "object", properties: { a: { minLength: "x" } } } }),
    one("items unknown field", { type: "array", items: { type: "string", bogus: 1 } }),
    one(
      "items unknown field, strictly",
      { type: "array", items: { type: "string", bogus: 1 } },
      "&fieldValidation=Strict",
    ),
    one("items nulls", {
      type: "array",
      items: { type: "string", default: null, maxLength: null, nullable: false, description: "" },
    }),
    one("items list", { type: "array", items: [{ type: "string" }] }),
    one("items empty list", { type: "array", items: [] }),
    one("items number", { type: "array", items: 5 }),
    one("items bool", { type: "array", items: true }),
    one("items text", { type: "array", items: "x" }),
    one("items null", { type: "array", items: null }),
    one("items list of null", { type: "array", items: [null] }),
    one("items list of number", { type: "array", items: [1] }),
    one("more number", { type: "object", additionalProperties: 5 }),
    one("more null", { type: "object", additionalProperties: null }),
    one("more text", { type: "object", additionalProperties: "x" }),
    one("more list", { type: "object", additionalProperties: [] }),
    one("more true", { type: "object", additionalProperties: true }),
    one("more false", { type: "object", additionalProperties: false }),
    one("more empty", { type: "object", additionalProperties: {} }),
    one("more nulls", { type: "object", additionalProperties: { type: "string", default: null, bogus: null } }),
    one("more wrong", { type: "object", additionalProperties: { type: "string", enum: 1 } }),
    one("more deep wrong", { type: "object", additionalProperties: { type: "array", items: { pattern: 1 } } }),
    one("additional items", { type: "array", items: { type: "string" }, additionalItems: { type: "string" } }),
    one("additional items that are empty", { additionalItems: {} }),
    one("additional items false", { type: "array", items: { type: "string" }, additionalItems: false }),
    one("dependencies", { type: "object", dependencies: { a: ["x"], b: { type: "string" }, c: null, d: [] } }),
    one("dependencies wrong", { type: "object", dependencies: { a: 1 } }),
    one("dependencies wrong list", { type: "object", dependencies: { a: [1] } }),
    one("not", { type: "object", not: { items: { type: 1 } } }),
    one("allOf", { type: "object", allOf: [{ items: { type: 1 } }] }),
    one("default in more", { type: "object", additionalProperties: { type: "string", default: 5 } }),
    one("default below more", {
      type: "object",
      additionalProperties: { type: "object", properties: { a: { type: "string", default: 5 } } },
    }),
    one("rules and keywords", {
      type: "object",
      properties: {
        a: { type: "string", "x-kubernetes-validations": [{ rule: "self +" }] },
        b: { type: "string", uniqueItems: true },
      },
    }),
    one("rules and keywords above", {
      type: "object",
      uniqueItems: true,
      "x-kubernetes-validations": [{ rule: "1" }],
      properties: { a: { type: "string", "x-kubernetes-validations": [{ rule: "self +" }] } },
    }),
    one("rules and defaults", { type: "object", default: 1, "x-kubernetes-validations": [{ rule: "1" }] }),
    one("rules, nullable root", { type: "object", "x-kubernetes-validations": [{ rule: "1" }] }, "", {
      nullable: true,
      "x-kubernetes-validations": [{ rule: "2" }],
    }),
    one("keywords and defaults", {
      type: "object",
      default: { a: 1 },
      properties: { a: { type: "string" } },
      uniqueItems: true,
    }),
    one("lists by key", {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["a", "b", "b"],
      items: {
        type: "object",
        nullable: true,
        properties: { a: { type: "array", items: { type: "string" }, nullable: true }, b: { type: "object" } },
      },
    }),
    one("lists by nothing", { type: "array", "x-kubernetes-list-type": "map" }),
    one("lists by bad key", {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["x", "y"],
      items: { type: "object", properties: { a: { type: "string" } } },
    }),
    one("sets", {
      type: "array",
      "x-kubernetes-list-type": "set",
      items: { type: "object", "x-kubernetes-list-type": "atomic", nullable: true },
    }),
    one("sets of lists", {
      type: "array",
      "x-kubernetes-list-type": "set",
      items: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
    }),
    one("a set that is no list", { type: "string", "x-kubernetes-list-type": "set", items: { type: "object" } }),
    one("a set of any type", {
      "x-kubernetes-preserve-unknown-fields": true,
      "x-kubernetes-list-type": "set",
      items: { type: "object" },
    }),
    one("definitions", { type: "object", definitions: { a: { type: "bogus", uniqueItems: true } } }),
    one("example null", {
      type: "object",
      example: null,
      externalDocs: null,
      properties: { a: { type: "string", enum: [null], nullable: true } },
    }),
    one("default null", { type: "object", default: null, nullable: true }),
  ]
}

function severalVersions(): RequestStep[] {
  const schema = { openAPIV3Schema: { type: "object" } }
  const other = { openAPIV3Schema: { type: "object", title: "a" } }
  const fields = { selectableFields: [{ jsonPath: ".spec.a" }] }
  const columns = { additionalPrinterColumns: [{ name: "A", type: "string", jsonPath: ".a" }] }
  const scale = { scale: { specReplicasPath: ".spec.a" } }
  const versions = (label: string, ...both: object[]): RequestStep =>
    post(
      path,
      definition(
        both.map((more, index) => ({ name: `v${index}`, served: true, storage: index === 0, schema, ...more })),
      ),
      { label: `POST ${label}` },
    )
  // What is wrong with all of them is told with all of them.
  const twice = (label: string, one: object, two: object): RequestStep =>
    versions(label, { ...one, name: "v1" }, { ...two, name: "v1", storage: true })
  return [
    twice("alike", {}, {}),
    twice("subresources", { subresources: { status: {} } }, { subresources: scale }),
    twice("columns", columns, {}),
    twice("selectable fields", fields, { deprecated: true }),
    versions("selectable fields of one", fields, {}),
    versions("selectable fields of all, another schema", fields, { ...fields, schema: other }),
    versions("selectable fields of one, another schema", fields, { schema: other }),
  ]
}

function dropped(): RequestStep[] {
  const own = { path: `/apis/u@{id}.example.com/v1/namespaces/@{ns}/things`, apiVersion: "u@{id}.example.com/v1" }
  const free = { "x-kubernetes-preserve-unknown-fields": true }
  const inner = { type: "object", properties: { a: { type: "string" } } }
  const fields: Record<string, object> = {
    any: { type: "object", additionalProperties: true },
    text: { type: "string" },
    number: { type: "integer" },
    either: { "x-kubernetes-int-or-string": true },
    list: { type: "array", items: { type: "string" } },
    free: { type: "object", ...free, properties: { known: inner } },
    freeList: { type: "array", ...free, items: { type: "object", properties: { a: { type: "object" } } } },
    freeAny: free,
    object: { type: "object" },
  }
  const deep = [{ a: [{ b: 1 }], c: { d: 1 } }]
  const values = [{ a: 1, x: { y: 1 }, l: deep }, deep, [deep], { known: deep }]
  const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", properties: fields } } }
  const { apiVersion } = own
  return [
    post(
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
      definition({ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }, "Namespaced"),
    ),
    get(own.path, { untilCode: 200 }),
    ...["", "&fieldValidation=Strict"].flatMap((more) =>
      Object.keys(fields).flatMap((name) =>
        values.map((value, index) =>
          post(
            `${own.path}?dryRun=All${more}`,
            { apiVersion, kind: "Thing", metadata: { name: "a" }, spec: { [name]: value } },
            { label: `POST ${name} ${index}${more}` },
          ),
        ),
      ),
    ),
  ]
}
