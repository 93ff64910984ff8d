// The kind that scenarios of custom resources are about: its definition, where its objects are, and an object of it.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, post, type RequestStep } from "../scenario.ts"

export const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
export const group = "g@{id}.example.com"
export const things = `/apis/${group}/v1/namespaces/@{ns}/things`

const schema = {
  type: "object",
  required: ["spec"],
  properties: {
    spec: {
      type: "object",
      required: ["size"],
      properties: {
        size: { type: "integer", minimum: 0, maximum: 10 },
        color: { type: "string", enum: ["red", "green"], default: "red" },
        name: { type: "string", pattern: "^[a-z]+$", minLength: 2, maxLength: 5 },
        ratio: { type: "number", multipleOf: 0.5 },
        when: { type: "string", format: "date-time" },
        any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        port: { "x-kubernetes-int-or-string": true },
        tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set", maxItems: 3 },
        parts: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: {
            type: "object",
            required: ["name"],
            properties: { name: { type: "string" }, count: { type: "integer", default: 1 } },
          },
        },
        labels: { type: "object", additionalProperties: { type: "string" }, maxProperties: 2 },
        nothing: { type: "string", nullable: true },
        choice: {
          type: "object",
          properties: { a: { type: "string" }, b: { type: "string" } },
          oneOf: [{ required: ["a"] }, { required: ["b"] }],
        },
      },
    },
    status: { type: "object", properties: { replicas: { type: "integer" }, phase: { type: "string" } } },
  },
}

/** Of a kind Thing with one version. */
export const definitionOf = (of: string, names: object, version: object, spec: object = {}) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `things.${of}` },
  spec: {
    group: of,
    scope: "Namespaced",
    names: { plural: "things", singular: "thing", kind: "Thing", ...names },
    versions: [{ name: "v1", served: true, storage: true, ...version }],
    ...spec,
  },
})

/** With all a version may have; `version` and `spec` change it. */
export const definition = (version: object = {}, spec: object = {}): Json =>
  definitionOf(
    group,
    { shortNames: ["tg"], categories: ["all"] },
    {
      schema: { openAPIV3Schema: schema },
      subresources: {
        status: {},
        scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.replicas" },
      },
      additionalPrinterColumns: [
        { name: "Size", type: "integer", jsonPath: ".spec.size" },
        { name: "Color", type: "string", jsonPath: ".spec.color", priority: 1 },
        { name: "When", type: "date", jsonPath: ".spec.when" },
      ],
      selectableFields: [{ jsonPath: ".spec.color" }],
      ...version,
    },
    spec,
  )

/** Both servers answer a create before they serve the kind. */
export const served: readonly RequestStep[] = [
  { ...post(definitions, definition()), label: "POST definition" },
  get(things, { untilCode: 200, label: "LIST when served" }),
]

export const thing = (spec: Json, name = "a", more: object = {}): Json => ({
  apiVersion: `${group}/v1`,
  kind: "Thing",
  metadata: { name },
  spec,
  ...more,
})

/** The steps that define a kind Thing of one version and of no more than these properties of its spec, until it is served. */
export function definedWith(of: string, properties: object): RequestStep[] {
  const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", properties } } }
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }]
  const spec = { group: of, scope: "Namespaced", names: { plural: "things", kind: "Thing" }, versions }
  return [
    post(definitions, { metadata: { name: `things.${of}` }, spec } as unknown as Json),
    get(`/apis/${of}/v1/namespaces/@{ns}/things`, { untilCode: 200 }),
  ]
}
