// Definitions with a null in any place: where a struct is wanted, a list or map has one as an item, or a value is optional.

import type { Json } from "../../../../apimachinery/object.ts"
import type { JsonObject } from "../generate/objects.ts"
import { isJsonObject } from "../random/values.ts"
import { get, post, put, type RequestStep, type Scenario } from "../scenario.ts"
import { definitions } from "./things.ts"

export function definitionNullCases(): Scenario[] {
  return [
    { name: "a definition is made with a null in any place", anyOrder: true, steps: made() },
    { name: "a definition is updated with a null in any place", anyOrder: true, steps: updated() },
  ]
}

const group = "n@{id}.example.com"

const text = { type: "string" }
const everything: JsonObject = {
  title: "t",
  description: "d",
  type: "object",
  required: ["a"],
  nullable: true,
  default: { a: "x" },
  externalDocs: { url: "https://example.com", description: "d" },
  example: 1,
  maxProperties: 9,
  properties: {
    a: { ...text, pattern: "^[a-z]+$", enum: ["x", "y"], maxLength: 5, format: "password", default: "x" },
    n: { type: "integer", minimum: 1, exclusiveMinimum: true, multipleOf: 2, default: 2 },
    l: {
      type: "array",
      maxItems: 3,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: { type: "object", required: ["name"], properties: { name: text } },
    },
    m: { type: "object", additionalProperties: { ...text, nullable: true }, "x-kubernetes-map-type": "atomic" },
    i: { "x-kubernetes-int-or-string": true },
    o: {
      type: "object",
      properties: { p: text, q: text },
      anyOf: [{ required: ["p"] }, { not: { required: ["q"] } }],
      allOf: [{ properties: { p: { minLength: 1 } } }],
      oneOf: [{ minProperties: 0 }],
    },
    e: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
  },
  "x-kubernetes-validations": [
    {
      rule: "has(self.a) || oldSelf.hasValue()",
      message: "m",
      messageExpression: "'m'",
      reason: "FieldValueInvalid",
      fieldPath: ".a",
      optionalOldSelf: true,
    },
  ],
}

const whole: JsonObject = {
  metadata: { name: `things.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: {
      plural: "things",
      singular: "thing",
      kind: "Thing",
      listKind: "ThingList",
      shortNames: ["tn"],
      categories: ["all"],
    },
    preserveUnknownFields: false,
    conversion: {
      strategy: "Webhook",
      webhook: {
        clientConfig: { service: { namespace: "n", name: "s", path: "/p", port: 1 }, caBundle: null },
        conversionReviewVersions: ["v1"],
      },
    },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        deprecated: true,
        deprecationWarning: "w",
        schema: { openAPIV3Schema: { type: "object", properties: { spec: everything } } },
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.n", statusReplicasPath: ".status.n", labelSelectorPath: ".status.s" },
        },
        additionalPrinterColumns: [
          { name: "A", type: "string", format: "password", description: "d", priority: 1, jsonPath: ".spec.a" },
        ],
        selectableFields: [{ jsonPath: ".spec.a" }],
      },
      { name: "v2", served: true, storage: false, schema: { openAPIV3Schema: { type: "object" } } },
    ],
  },
}

/** The whole with null in one place, or one null more in a list or map. */
function withNulls(): [string, JsonObject][] {
  return variants(whole["spec"] ?? null, "spec").map(([place, spec]) => [place, { ...whole, spec }])
}

function variants(value: Json, place: string): [string, Json][] {
  const here: [string, Json][] = [[place, null]]
  if (Array.isArray(value)) {
    return [
      ...here,
      [`${place}[null]`, [null]],
      [`${place}[+null]`, [...value, null]],
      ...value.flatMap((item, index) =>
        variants(item, `${place}[${index}]`).map(([at, other]): [string, Json] => [at, value.with(index, other)]),
      ),
    ]
  }
  if (!isJsonObject(value)) return here
  return [
    ...here,
    [`${place}.+null`, { ...value, added: null }],
    ...Object.entries(value).flatMap(([name, inner]) =>
      variants(inner, `${place}.${name}`).map(([at, other]): [string, Json] => [at, { ...value, [name]: other }]),
    ),
  ]
}

function made(): RequestStep[] {
  return withNulls().map(([place, body]) => post(`${definitions}?dryRun=All`, body, { label: `POST null at ${place}` }))
}

function updated(): RequestStep[] {
  const path = `${definitions}/things.${group}`
  return [
    post(definitions, whole),
    get(`/apis/${group}/v1/things`, { untilCode: 200 }),
    get(path, { save: "now", untilText: "InitialNamesAccepted" }),
    ...withNulls().map(([place, body]) => {
      const metadata = { name: `things.${group}`, resourceVersion: "@{now.metadata.resourceVersion}" }
      return put(`${path}?dryRun=All`, { ...body, metadata }, { label: `PUT null at ${place}` })
    }),
  ]
}
