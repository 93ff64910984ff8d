// OpenAPI documents of an aggregated API whose server has only version 2: both servers make version 3 of it.

import { WebhookServer } from "../../../../gateway/testing/webhook-server.ts"
import type { Json } from "../../../../apimachinery/object.ts"
import { get, post, remove, type RequestStep } from "../scenario.ts"

const group = "older.example.com"
const services = "/apis/apiregistration.k8s.io/v1/apiservices"

const text = { type: "string" }
const reference = { $ref: "#/definitions/Thing" }
const kind = { group, version: "v1", kind: "Thing" }

/** Each keyword, in the company that changes what is made of it. */
const definitions: object = {
  Thing: {
    type: "object",
    description: "A thing.",
    required: ["spec"],
    properties: {
      apiVersion: text,
      spec: { ...reference, description: "has siblings" },
      other: reference,
      list: { type: "array", items: reference, "x-kubernetes-list-type": "atomic" },
      described: { type: "array", items: { ...reference, description: "an item" } },
      map: { type: "object", additionalProperties: reference },
      any: { type: "object", additionalProperties: true },
      none: { type: "object", additionalProperties: false },
      all: { allOf: [reference, { type: "object", properties: { a: reference } }] },
      number: { type: "integer", format: "int32", default: 1, minimum: 0, enum: [1, 2] },
      typed: { type: "array", items: { type: "array", items: text } },
      elsewhere: { $ref: "#/elsewhere/Thing" },
    },
    "x-kubernetes-group-version-kind": [kind],
  },
  Unused: { type: "string", example: "", title: "t", readOnly: true },
}

const path: object = {
  parameters: [
    { name: "namespace", in: "path", type: "string", required: true, uniqueItems: true },
    { $ref: "#/parameters/pretty" },
  ],
  get: {
    description: "read",
    summary: "s",
    tags: ["older"],
    operationId: "readThing",
    schemes: ["https"],
    consumes: ["application/json"],
    produces: ["application/json", "application/yaml"],
    parameters: [{ name: "limit", in: "query", type: "integer", format: "int64", description: "how many", default: 5 }],
    responses: {
      "200": { description: "OK", schema: reference, headers: { etag: text } },
      "401": { description: "Unauthorized" },
      "404": { $ref: "#/responses/NotFound" },
      default: { description: "other", schema: text },
    },
    "x-kubernetes-action": "get",
    "x-kubernetes-group-version-kind": kind,
    deprecated: true,
    externalDocs: { url: "http://docs", description: "d" },
  },
  post: {
    consumes: ["application/json"],
    parameters: [
      { name: "body", in: "body", required: true, schema: reference },
      { name: "dryRun", in: "query", schema: text, allowEmptyValue: true },
    ],
    responses: { "201": { description: "Created", schema: reference } },
  },
  put: { parameters: [{ name: "body", in: "body", schema: { ...reference, description: "d" } }], responses: {} },
  patch: { parameters: [{ name: "body", in: "query", type: "string" }], responses: { "200": { description: "OK" } } },
  "x-of-path": { a: 1 },
}

const swagger: object = {
  swagger: "2.0",
  info: { title: "Older", version: "v0", description: "d" },
  externalDocs: { url: "http://docs" },
  paths: { [`/apis/${group}/v1/things`]: path, "/apis/": { get: { responses: { "200": { description: "OK" } } } } },
  definitions,
  parameters: { pretty: { name: "pretty", in: "query", type: "string" } },
  responses: { NotFound: { description: "Not found", schema: text } },
  securityDefinitions: {
    token: { type: "apiKey", name: "authorization", in: "header", description: "d" },
    oauth: { type: "oauth2", flow: "implicit", authorizationUrl: "https://a", scopes: { a: "b" } },
    accessCode: { type: "oauth2", flow: "accessCode", tokenUrl: "https://t" },
  },
  security: [{ token: [] }],
}

/** What can be said in protobuf. */
const plain: object = {
  swagger: "2.0",
  info: { title: "Plain", version: "v0" },
  paths: {
    [`/apis/${group}/v1/things`]: {
      parameters: [{ name: "namespace", in: "path", type: "string", required: true, uniqueItems: true }],
      get: {
        description: "read",
        operationId: "readThing",
        tags: ["plain"],
        produces: ["application/json"],
        parameters: [{ name: "limit", in: "query", type: "integer", description: "how many" }],
        responses: { "200": { description: "OK", schema: reference } },
        "x-kubernetes-action": "get",
      },
      post: {
        consumes: ["application/json"],
        parameters: [{ name: "body", in: "body", schema: reference }],
        responses: { "201": { description: "Created", schema: reference } },
      },
    },
  },
  definitions: {
    Thing: {
      type: "object",
      description: "A thing.",
      required: ["spec"],
      properties: { spec: { ...reference, description: "siblings" }, list: { type: "array", items: reference } },
      "x-kubernetes-group-version-kind": [kind],
    },
  },
  securityDefinitions: { token: { type: "apiKey", name: "authorization", in: "header" } },
}

export function startOlderServer(document: object): Promise<WebhookServer> {
  return WebhookServer.start(
    ({ path: asked }) => {
      const [at = ""] = asked.split("?", 1)
      if (at === "/openapi/v2") return { body: document }
      if (at !== `/apis/${group}/v1`) return { code: 404, text: "" }
      const things = { name: "things", singularName: "thing", namespaced: true, kind: "Thing", verbs: ["get"] }
      return { body: { kind: "APIResourceList", apiVersion: "v1", groupVersion: `${group}/v1`, resources: [things] } }
    },
    ["localhost"],
  )
}

export function converted(port: number, isPlain = false): RequestStep[] {
  const service = { namespace: "@{ns}", name: "older", port }
  const spec = { group, version: "v1", groupPriorityMinimum: 1000, versionPriority: 15, insecureSkipTLSVerify: true }
  const external = { type: "ExternalName", externalName: "localhost" }
  const document = (at: string, more: Partial<RequestStep> = {}): RequestStep =>
    get(`/openapi/v3${at}`, { document: true, ...more })
  const protobuf = { accept: "application/com.github.proto-openapi.spec.v3@v1.0+protobuf" }
  return [
    post("/api/v1/namespaces/@{ns}/services", { metadata: { name: "older" }, spec: external }),
    post(services, { metadata: { name: `v1.${group}` }, spec: { ...spec, service } } as unknown as Json, {
      label: "WRITE APIService",
    }),
    get(`/apis/${group}/v1`, { untilCode: 200 }),
    document("", { untilText: `apis/${group}/v1`, label: "GET index" }),
    document(`/apis/${group}/v1`),
    ...(isPlain ? [document(`/apis/${group}/v1`, { headers: protobuf, label: "GET in protobuf" })] : []),
    document(`/apis/${group}/v1?hash=1`),
    document(`/apis/${group}/v1`, { headers: { accept: "text/plain" }, label: "GET as text" }),
    document(`/apis/${group}`),
    document(`/apis/${group}/v2`),
    remove(`${services}/v1.${group}`),
    document(`/apis/${group}/v1`, { untilCode: 404, label: "GET when removed" }),
  ]
}

/** What there is, and whether it is plain. */
export const olderDocuments = [
  ["an API has only OpenAPI v2", swagger, false],
  ["an API has only a plain OpenAPI v2", plain, true],
] as const
