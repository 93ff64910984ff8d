// OpenAPI documents of custom resources at their edges: roots that are embedded resources, bounds that no double can hold, fields of
// odd names, and what changes in a definition that is published already.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, type RequestStep, type Scenario } from "../scenario.ts"
import { definitionOf, definitions } from "./things.ts"

export function customDocumentEdgeCases(): Scenario[] {
  return [
    { name: "OpenAPI describes custom resources with odd roots", steps: roots.flatMap(rooted) },
    { name: "OpenAPI describes bounds that no double can hold", steps: described("ob@{id}.example.com", bounds) },
    { name: "OpenAPI describes fields of odd names", steps: described("on@{id}.example.com", named) },
    { name: "OpenAPI describes a custom resource that changes", steps: changed() },
    { name: "OpenAPI describes a custom resource whose version is not served any more", steps: unserved() },
  ]
}

const text = { type: "string" }
const free = { "x-kubernetes-preserve-unknown-fields": true }
const embedded = { "x-kubernetes-embedded-resource": true }

/** In both versions and both encodings. `type`: for which both servers are waited for. */
function documents(group: string, type = "v1.ThingList"): RequestStep[] {
  const [version = ""] = type.split(".", 1)
  const untilText = `com.example.${group.split(".")[0]}.${type}`
  return [`/openapi/v3/apis/${group}/${version}`, "/openapi/v2"].flatMap((path) => {
    const accept = `application/com.github.proto-openapi.spec.${path.split("/")[2]}@v1.0+protobuf`
    return [
      get(path, { document: true, untilText, label: `GET ${path} with ${type}` }),
      get(path, { document: true, headers: { accept }, untilText, label: `GET ${path} with ${type} in protobuf` }),
    ]
  })
}

function define(group: string, root: object): RequestStep {
  const schema = { openAPIV3Schema: { type: "object", ...root } }
  return post(definitions, definitionOf(group, {}, { schema }) as unknown as Json, {
    label: `WRITE ${JSON.stringify(root)}`,
  })
}

function described(group: string, properties: object): RequestStep[] {
  return [define(group, { properties: { spec: { type: "object", properties } } }), ...documents(group)]
}

/** Without a status, a root may have most keywords. */
const roots: readonly object[] = [
  { ...embedded, properties: { spec: text } },
  { ...embedded, required: ["kind"], properties: { kind: { ...text, description: "own" }, apiVersion: text } },
  { ...embedded, ...free },
  { properties: { spec: text }, minProperties: 1, maxProperties: 9, "x-kubernetes-map-type": "granular" },
  { properties: { spec: text }, allOf: [{ required: ["spec"] }], not: { required: ["x"] } },
  { properties: { spec: text }, anyOf: [{ required: ["spec"] }], oneOf: [{ required: ["spec"] }], format: "x" },
]

function rooted(root: object, index: number): RequestStep[] {
  const group = `or${index}@{id}.example.com`
  return [define(group, root), ...documents(group)]
}

const whole = [9007199254740993n, 9223372036854775807n, 2147483648, 0, -1]
const bounds = Object.fromEntries(
  [...whole.entries()].flatMap(([index, bound]) => [
    [`text${index}`, { ...text, minLength: bound, maxLength: bound }],
    [`list${index}`, { type: "array", items: text, minItems: bound, maxItems: bound }],
    [`map${index}`, { type: "object", additionalProperties: text, minProperties: bound, maxProperties: bound }],
    [`number${index}`, { type: "number", minimum: bound, maximum: bound }],
    [`enum${index}`, { type: "integer", enum: [bound, 1], default: bound }],
  ]),
)

const named = Object.fromEntries(
  ["__proto__", "constructor", "toString", "a/b", "a~b", "<&>", "ü", "a b", "{name}", "1", "$ref", "x-a"].map(
    (name) => [name, { ...text, description: name, example: name, enum: [name, "yes", "1", "null", "- a: b #"] }],
  ),
)

const version = (name: string, field = "a", more: object = {}): object => ({
  name,
  served: true,
  storage: name === "v1",
  schema: { openAPIV3Schema: { type: "object", properties: { [field]: text } } },
  ...more,
})
/** By a field whose name tells both servers' documents after the change from those before. */
const selectable = (field: string): object => version("v1", field, { selectableFields: [{ jsonPath: `.${field}` }] })
const selected = (field: string): string => `"x-kubernetes-selectable-fields":[{"fieldPath":"${field}"}]`

const defineVersions = (group: string): RequestStep =>
  post(definitions, definitionOf(group, {}, {}, { versions: [version("v1"), version("v2")] }) as Json, {
    label: "WRITE definition",
  })
const change = (group: string, label: string, spec: object): RequestStep =>
  patch(`${definitions}/things.${group}`, mergePatch, { spec } as unknown as Json, { label: `WRITE ${label}` })

function changed(): RequestStep[] {
  const group = "oc@{id}.example.com"
  return [
    defineVersions(group),
    ...documents(group),
    ...documents(group, "v2.ThingList"),
    change(group, "another kind of list", { names: { listKind: "ManyThings" } }),
    ...documents(group, "v1.ManyThings"),
    change(group, "selectable fields", { versions: [selectable("changed"), version("v2")] }),
    get(`/openapi/v3/apis/${group}/v1`, { document: true, untilText: selected("changed") }),
    get("/openapi/v2", { document: true, untilText: selected("changed") }),
  ]
}

function unserved(): RequestStep[] {
  const group = "ou@{id}.example.com"
  const versions = [selectable("unserved"), version("v2", "a", { served: false })]
  return [
    defineVersions(group),
    ...documents(group, "v2.ThingList"),
    change(group, "one version", { versions }),
    get(`/openapi/v3/apis/${group}/v1`, { document: true, untilText: selected("unserved") }),
    get(`/openapi/v3/apis/${group}/v2`, { document: true, label: "GET OpenAPI of v2" }),
    get("/openapi/v3", { document: true, label: "GET OpenAPI of all" }),
    get("/openapi/v2", { document: true, untilText: selected("unserved") }),
  ]
}
