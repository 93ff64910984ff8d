// OpenAPI documents: their structure, the headers that let clients keep them, and what custom resources add.

import type { Json } from "../../../../apimachinery/object.ts"
import { builtInResources } from "../../../../apimachinery/schema/facts.ts"
import { get, post, type RequestStep, type Scenario } from "../scenario.ts"

export function openAPICases(): Scenario[] {
  const versions = [...new Set(builtInResources().map(({ group, version }) => `${group}/${version}`))]
  const paths = versions.map((version) => (version.startsWith("/") ? `api${version}` : `apis/${version}`))
  const groups = [...new Set(builtInResources().map(({ group }) => group))].filter(Boolean)
  const plain = ["api", "apis", "version", ".well-known/openid-configuration", "openid/v1/jwks"]
  return [
    { name: "OpenAPI v3 lists every group version", steps: [document("/openapi/v3")] },
    ...paths.map((path) => ({
      name: `OpenAPI v3 has the structure of ${path.replace(/^apis\//, "")}`,
      steps: [document(`/openapi/v3/${path}`)],
    })),
    {
      name: "OpenAPI v3 has the structure of what is no resource",
      steps: [...plain, ...groups.map((group) => `apis/${group}`)].map((path) => document(`/openapi/v3/${path}`)),
    },
    { name: "OpenAPI v2 has the structure of everything", steps: [document("/openapi/v2")] },
    { name: "OpenAPI documents are kept by clients", steps: kept() },
    { name: "OpenAPI documents in every form", steps: forms() },
    {
      name: "OpenAPI v3 has the structure of everything in protobuf",
      steps: [...paths, ...groups.map((group) => `apis/${group}`), ...plain].map((path) =>
        inProtobuf(`/openapi/v3/${path}`),
      ),
    },
    { name: "OpenAPI v2 has the structure of everything in protobuf", steps: [inProtobuf("/openapi/v2")] },
    { name: "OpenAPI describes custom resources", steps: custom() },
  ]
}

function document(path: string, more: Partial<RequestStep> = {}): RequestStep {
  return get(path, { document: true, ...more })
}

function inProtobuf(path: string): RequestStep {
  const [, , version] = path.split("/")
  const accept = `application/com.github.proto-openapi.spec.${version}@v1.0+protobuf`
  return document(path, { headers: { accept }, label: `GET ${path} in protobuf` })
}

function kept(): RequestStep[] {
  const small = "/openapi/v3/version"
  const conditions: Record<string, string>[] = [
    { "if-none-match": "*" },
    { "if-none-match": '"nothing"' },
    { "if-none-match": '"nothing", W/"nor this"' },
    { "if-modified-since": "Sat, 21 Nov 2099 17:30:49 GMT" },
    { "if-modified-since": "Mon, 21 Nov 2016 17:30:49 GMT" },
    { "if-modified-since": "no time" },
    { "if-none-match": '"nothing"', "if-modified-since": "Sat, 21 Nov 2099 17:30:49 GMT" },
  ]
  const address = (path: string): string => `@{index.paths.${path}.serverRelativeURL}`
  return [
    document("/openapi/v3", { save: "index" }),
    document(address("apis/apps/v1"), { label: "GET by hash" }),
    document(address("version"), { headers: { "if-none-match": "*" }, label: "GET by hash, known" }),
    get(`${small}?hash=1`),
    get("/openapi/v3/apis/apps/v1?hash=ABC&timeout=5s"),
    document(`${small}?hash=`),
    ...["/openapi/v2", "/openapi/v3", small].flatMap((path) =>
      conditions.map((headers) => document(path, { headers, label: `GET ${path} ${JSON.stringify(headers)}` })),
    ),
    ...["bytes=0-9", "bytes=9-0", "bytes=-1", "bytes=9999999-", "lines=1-2"].map((range) =>
      document(small, { headers: { range }, label: `GET ${small} ${range}` }),
    ),
  ]
}

function forms(): RequestStep[] {
  const types = [
    "application/json",
    "application/yaml",
    "application/*",
    "*/*",
    "text/plain",
    "text/plain, application/json;q=0.5",
    "",
    "application/vnd.kubernetes.protobuf",
    ";q=1",
    ",",
    "application",
    "application/",
    "/json",
    "*",
    "*/json",
    "a/b/c",
    "text/plain, ;",
    "APPLICATION/JSON",
    "application/json;q=0",
    "application/json;as=Table",
    "text/plain;q=1, */*;q=0",
    ...["v2", "v3"].flatMap((version) => [
      `application/com.github.proto-openapi.spec.${version}@v1.0+protobuf`,
      `application/com.github.proto-openapi.spec.${version}.v1.0+protobuf`,
    ]),
  ]
  const paths = ["/openapi/v2", "/openapi/v3", "/openapi/v3/apis/apps/v1", "/openapi/v3/version", "/openapi/v3/absent"]
  return [
    ...paths.flatMap((path) =>
      types.map((accept) => ({ method: "HEAD", path, headers: { accept }, label: `HEAD ${path} ${accept}` })),
    ),
    { ...post("/openapi/v3/version", {}), document: true },
    ...["/openapi/v2/", "/openapi/v3/", "/openapi/v3/apis/apps/v1/", "/openapi/v3/absent", "/openapi"].map((path) =>
      get(path),
    ),
  ]
}

const group = "g@{id}.example.com"

/** Each keyword of a schema, in the company that changes what is made of it. */
const spec: Json = {
  type: "object",
  required: ["color"],
  properties: {
    color: { type: "string", enum: ["red", "green"], default: "red", description: "Its color." },
    replicas: { type: "integer", format: "int32", minimum: 0, maximum: 10, default: 1 },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { a: { type: "string" } } },
    maybe: { type: "string", nullable: true, pattern: "^a", minLength: 1 },
    maybeObject: {
      type: "object",
      nullable: true,
      properties: { b: { type: "string", default: "x" } },
      required: ["b"],
    },
    maybeList: { type: "array", nullable: true, items: { type: "string", nullable: true }, maxItems: 2 },
    port: { "x-kubernetes-int-or-string": true, default: 80 },
    pattern: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }], pattern: "a" },
    labels: { type: "object", additionalProperties: { type: "string", nullable: true } },
    any: { type: "object", additionalProperties: true },
    list: {
      type: "array",
      maxItems: 3,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      items: {
        type: "object",
        required: ["k"],
        properties: {
          k: { type: "string" },
          v: { type: "number", format: "double", exclusiveMinimum: true, minimum: 1, multipleOf: 2 },
        },
      },
    },
    set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
    whole: {
      type: "object",
      "x-kubernetes-map-type": "atomic",
      properties: { z: { type: "boolean", default: false } },
    },
    embedded: {
      type: "object",
      "x-kubernetes-embedded-resource": true,
      properties: { spec: { type: "object", properties: { q: { type: "string" } } } },
    },
    raw: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
    choice: {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
      oneOf: [{ required: ["a"] }, { required: ["b"] }],
      not: { required: ["c"] },
      allOf: [{ properties: { a: { minLength: 2 } } }],
      minProperties: 1,
    },
    words: {
      type: "string",
      title: "T",
      example: "ex",
      externalDocs: { url: "http://x.y", description: "d" },
      format: "date-time",
    },
    nothing: { type: "string", nullable: true, default: null },
  },
}

function custom(): RequestStep[] {
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
  const create = (plural: string, rest: object): RequestStep =>
    post(
      definitions,
      {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: `${plural}.${group}` },
        spec: { group, ...rest } as Json,
      },
      { label: `POST ${plural}` },
    )
  const version = { name: "v1", served: true, storage: true }
  return [
    create("things", {
      scope: "Namespaced",
      names: { plural: "things", singular: "thing", kind: "Thing", listKind: "ListOfThings" },
      versions: [
        {
          ...version,
          selectableFields: [{ jsonPath: ".spec.color" }],
          subresources: { status: {}, scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.n" } },
          schema: {
            openAPIV3Schema: {
              type: "object",
              description: "A thing.",
              required: ["spec"],
              "x-kubernetes-validations": [{ rule: "has(self.spec)", message: "needs a spec" }],
              properties: {
                apiVersion: { type: "string" },
                kind: { type: "string" },
                metadata: { type: "object", properties: { name: { type: "string", maxLength: 20 } } },
                spec,
                status: { type: "object", properties: { n: { type: "integer" } } },
              },
            },
          },
        },
        {
          name: "v1alpha1",
          served: true,
          storage: false,
          deprecated: true,
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
        { name: "v0", served: false, storage: false, schema: { openAPIV3Schema: { type: "object" } } },
      ],
    }),
    create("wides", {
      scope: "Cluster",
      names: { plural: "wides", singular: "wide", kind: "Wide" },
      versions: [
        {
          ...version,
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: {
                spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                data: { type: "string", format: "byte" },
              },
            },
          },
        },
      ],
    }),
    document(`/openapi/v3/apis/${group}/v1`, { untilText: "v1.WideList" }),
    document(`/openapi/v3/apis/${group}/v1alpha1`, { untilText: "v1alpha1.ListOfThings" }),
    get(`/openapi/v3/apis/${group}/v0`),
    get(`/openapi/v3/apis/${group}`),
    document("/openapi/v3", { untilText: `${group}/v1alpha1`, label: "GET index with custom resources" }),
    document("/openapi/v2", { untilText: "com.example.g@{id}.v1.WideList", label: "GET v2 with custom resources" }),
    inProtobuf(`/openapi/v3/apis/${group}/v1`),
    { ...inProtobuf("/openapi/v2"), untilText: "com.example.g@{id}.v1.WideList" },
  ]
}
