// OpenAPI documents of custom resources: keywords in every form, and names that are no identifiers.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, post, remove, type RequestStep, type Scenario } from "../scenario.ts"
import { definitions } from "./things.ts"

export function customDocumentCases(): Scenario[] {
  return [
    { name: "OpenAPI describes keywords of custom resources", steps: keywords() },
    { name: "OpenAPI describes custom resources of any name", steps: names() },
    { name: "OpenAPI describes custom resources of groups with digits", steps: digits() },
    {
      name: "OpenAPI describes a custom resource that has the name of a built-in type",
      alone: true,
      steps: namesake(),
    },
  ]
}

function document(path: string, more: Partial<RequestStep> = {}): RequestStep {
  return get(path, { document: true, ...more })
}

function inProtobuf(path: string): RequestStep {
  const accept = `application/com.github.proto-openapi.spec.${path.split("/")[2]}@v1.0+protobuf`
  return document(path, { headers: { accept }, label: `GET ${path} in protobuf` })
}

interface Names {
  plural: string
  kind: string
  listKind?: string
  singular?: string
}

const create = (group: string, own: Names, versions: readonly object[], spec: object = {}): RequestStep =>
  post(
    definitions,
    {
      metadata: { name: `${own.plural}.${group}` },
      spec: { group, scope: "Namespaced", names: own, versions, ...spec },
    } as unknown as Json,
    { label: `WRITE ${own.plural}` },
  )

const version = (properties: object, more: object = {}, root: object = {}): object => ({
  name: "v1",
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: "object", properties, ...root } },
  ...more,
})

const text = { type: "string" }
const ports = { "x-kubernetes-int-or-string": true }
const eitherType = { anyOf: [{ type: "integer" }, text] }
const free = { "x-kubernetes-preserve-unknown-fields": true }
const embedded = { type: "object", "x-kubernetes-embedded-resource": true }

const properties: object = {
  emptyText: { ...text, title: "", description: "", pattern: "", minLength: 0, maxLength: 0, default: "", example: "" },
  falsehoods: { ...text, nullable: false, "x-kubernetes-int-or-string": false, example: "false" },
  emptyList: { type: "array", items: text, minItems: 0, maxItems: 0, uniqueItems: false, default: [], example: [] },
  emptyObject: {
    type: "object",
    properties: {},
    required: [],
    minProperties: 0,
    maxProperties: 0,
    allOf: [],
    anyOf: [],
    oneOf: [],
    "x-kubernetes-validations": [],
    default: {},
    example: {},
  },
  exampleZero: { type: "integer", example: 0 },
  exampleFalse: { type: "boolean", example: false },
  exampleNull: { ...text, example: null },
  emptyMapOfExamples: { type: "object", additionalProperties: { ...text, example: "" } },
  zeros: { type: "number", minimum: 0, maximum: 0, exclusiveMinimum: false, exclusiveMaximum: false, multipleOf: 0.1 },
  bounds: {
    type: "number",
    minimum: -0.5,
    exclusiveMinimum: true,
    maximum: 1e15,
    exclusiveMaximum: true,
    default: 0.5,
  },
  large: { type: "integer", format: "int64", default: 9007199254740993n, enum: [9007199254740993n, 1] },
  largeExample: { ...text, example: { a: [9223372036854775807n] } },
  objectsOfEnum: { type: "object", properties: { a: text }, enum: [{ a: "b" }, {}] },
  nullInEnum: { ...text, nullable: true, enum: ["a", null], default: null },
  rules: {
    type: "object",
    properties: { a: text },
    "x-kubernetes-validations": [
      { rule: "true", message: "m", reason: "FieldValueForbidden", fieldPath: ".a" },
      { rule: "!oldSelf.hasValue()", optionalOldSelf: true },
      { rule: "self.a != 'x'", messageExpression: "'x'" },
    ],
  },
  portsWithin: {
    type: "object",
    properties: { p: ports, q: ports },
    allOf: [{ properties: { p: { minimum: 1 } } }],
    anyOf: [{ properties: { p: { maxLength: 3 }, q: { anyOf: [{ minimum: 2 }, { pattern: "x" }] } } }],
    not: { properties: { p: { enum: ["a", 1] } } },
  },
  portsOfAll: { ...ports, allOf: [eitherType, { pattern: "a" }] },
  portsOfPattern: { ...ports, allOf: [{ pattern: "a" }] },
  portsOfAny: { ...ports, ...eitherType, allOf: [{ minimum: 2 }] },
  portsOrNull: { ...ports, nullable: true },
  listOfPorts: { type: "array", items: ports },
  mapOfPorts: { type: "object", additionalProperties: ports },
  nullableRequired: {
    type: "object",
    required: ["a", "b", "c"],
    properties: { a: { ...text, nullable: true }, b: text, c: { ...text, nullable: true } },
  },
  mapOfNullable: {
    type: "object",
    required: ["a"],
    additionalProperties: { type: "object", nullable: true, properties: { a: text } },
  },
  mapOfFree: { type: "object", additionalProperties: { type: "object", ...free } },
  freeRequired: { type: "object", ...free, required: ["a"], properties: { a: { ...text, nullable: true } } },
  free: { ...free, description: "x", title: "t" },
  listOfFree: { type: "array", items: free },
  listOrNull: { type: "array", nullable: true, items: text, minItems: 1 },
  lists: {
    type: "array",
    items: { type: "array", items: { type: "object", nullable: true, properties: { z: text } } },
  },
  listOfEmbedded: {
    type: "array",
    items: {
      ...embedded,
      required: ["kind", "spec"],
      properties: {
        kind: { ...text, enum: ["A"] },
        apiVersion: { ...text, description: "own" },
        spec: { type: "object" },
        metadata: { type: "object", properties: { name: { ...text, maxLength: 3 } } },
      },
    },
  },
  mapOfEmbedded: { type: "object", additionalProperties: { ...embedded, ...free } },
  embeddedOrNull: { ...embedded, nullable: true, properties: { spec: { type: "object" } } },
  any: { type: "object", additionalProperties: true, maxProperties: 3 },
  granular: { type: "object", "x-kubernetes-map-type": "granular", properties: { a: text } },
  $ref: text,
  "x-y": text,
  default: { ...text, description: "of this name" },
  properties: { type: "object", properties: { required: text } },
  formats: {
    type: "object",
    properties: Object.fromEntries(
      ["uri", "email", "cidr", "uuid5", "isbn10", "byte", "password", "date", "duration", "date-time"].map((format) => [
        format,
        { ...text, format },
      ]),
    ),
  },
}

function keywords(): RequestStep[] {
  const group = "k@{id}.example.com"
  const scale = { specReplicasPath: ".spec.a", statusReplicasPath: ".status.b", labelSelectorPath: ".status.c" }
  const root = { required: ["spec", "more"], title: "T", example: { a: 1 } }
  return [
    create(group, { plural: "things", kind: "Thing" }, [
      version({ spec: { type: "object", properties }, more: text }, { subresources: { scale } }, root),
    ]),
    document(`/openapi/v3/apis/${group}/v1`, { untilText: "v1.ThingList" }),
    document("/openapi/v2", { untilText: "com.example.k@{id}.v1.ThingList" }),
    inProtobuf(`/openapi/v3/apis/${group}/v1`),
    inProtobuf("/openapi/v2"),
  ]
}

function names(): RequestStep[] {
  const group = "n@{id}.example.com"
  const scale = { specReplicasPath: ".spec.a", statusReplicasPath: ".status.b" }
  return [
    create(group, { plural: "apples", kind: "Apple", listKind: "ManyApples" }, [
      version({}, { subresources: { status: {} } }),
    ]),
    create(
      group,
      { plural: "endpoints", singular: "endpoint", kind: "Endpoints" },
      [version({ status: text, metadata: { type: "object" } }, { subresources: { status: {}, scale } }, free)],
      { scope: "Cluster" },
    ),
    create(group, { plural: "a-b-cs", singular: "a", kind: "x-y", listKind: "x-ys" }, [
      version({
        apiVersion: { ...text, description: "own" },
        kind: { ...text, enum: ["x"] },
        metadata: { type: "object", properties: { name: { ...text, pattern: "a" } } },
      }),
    ]),
    create(group, { plural: "hours", kind: "hour" }, [
      version({}, {}, { description: "an hour", externalDocs: { url: "http://x" } }),
    ]),
    create(group, { plural: "days", kind: "day" }, [version({})], { scope: "Cluster" }),
    document(`/openapi/v3/apis/${group}/v1`, { untilText: "v1.dayList" }),
    document("/openapi/v2", { untilText: "com.example.n@{id}.v1.dayList" }),
    inProtobuf(`/openapi/v3/apis/${group}/v1`),
  ]
}

function digits(): RequestStep[] {
  const group = "9a-@{id}.9b.example.com"
  const other = { ...version({}), name: "my-v-1a", storage: false }
  return [
    create(group, { plural: "things", kind: "k9-9a" }, [version({}), other]),
    document(`/openapi/v3/apis/${group}/my-v-1a`, { untilText: "k9-9aList" }),
    document(`/openapi/v3/apis/${group}/v1`, { untilText: "k9-9aList" }),
    document("/openapi/v2", { untilText: "my-v-1a.k9-9aList" }),
  ]
}

/** The group is not the scenario's own, so that the definition goes away again. */
function namesake(): RequestStep[] {
  const metadata = { name: "pods.core.api.k8s.io", annotations: { "api-approved.kubernetes.io": "unapproved, a test" } }
  const spec = { group: "core.api.k8s.io", scope: "Namespaced", names: { plural: "pods", kind: "Pod" } }
  const versions = [version({ spec: { type: "object" } })]
  return [
    post(definitions, { metadata, spec: { ...spec, versions } } as unknown as Json, { label: "WRITE pods" }),
    document("/openapi/v2", { untilText: "io.k8s.api.core.v1.PodList_v2" }),
    document(`/openapi/v3/apis/${spec.group}/v1`, { untilText: "io.k8s.api.core.v1.PodList" }),
    remove(`${definitions}/${metadata.name}`, undefined, { label: "WRITE nothing" }),
    get(`${definitions}/${metadata.name}`, { untilCode: 404 }),
  ]
}
