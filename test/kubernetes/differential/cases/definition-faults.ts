// What is wrong with a definition beside its schema: names, versions, conversion, subresources, columns, selectable fields.

import type { Json } from "../../../../apimachinery/object.ts"
import { post, type RequestStep, type Scenario } from "../scenario.ts"

export function definitionFaultCases(): Scenario[] {
  const scenario = (what: string, steps: RequestStep[]): Scenario => ({
    name: `a definition with odd ${what} is answered`,
    anyOrder: true,
    steps,
  })
  return [
    scenario("types", types()),
    scenario("alternatives", alternatives()),
    scenario("names", names()),
    scenario("versions", versions()),
    scenario("conversion", conversions()),
    scenario("subresources", subresources()),
    scenario("columns", columns()),
    scenario("selectable fields", selectable()),
  ]
}

const group = "w@{id}.example.com"
const text = { type: "string" }
const object = (properties: object, more: object = {}): object => ({ type: "object", properties, ...more })

function version(more: object = {}, openAPIV3Schema: object = { type: "object" }): object {
  return { name: "v1", served: true, storage: true, schema: { openAPIV3Schema }, ...more }
}

function createDefinition(label: string, spec: object, name = `things.${group}`): RequestStep {
  const complete = {
    group,
    scope: "Cluster",
    names: { plural: "things", kind: "Thing" },
    versions: [version()],
    ...spec,
  }
  const body = { metadata: { name }, spec: complete } as Json
  return post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All", body, {
    label: `POST ${label.slice(0, 100)}`,
  })
}

/** Integers or texts, where a schema says that it takes both and where it does not. */
function alternatives(): RequestStep[] {
  const either = [{ type: "integer" }, text]
  const any = { "x-kubernetes-preserve-unknown-fields": true }
  const both = { "x-kubernetes-int-or-string": true }
  const schemas: object[] = [
    { anyOf: either },
    { allOf: [{ anyOf: either }] },
    { ...text, anyOf: either },
    { type: "object", anyOf: either },
    { ...any, anyOf: either },
    { ...any, allOf: [{ anyOf: either }] },
    { ...both, anyOf: either },
    { ...both, allOf: [{ anyOf: either }, { pattern: "a" }] },
    { anyOf: either.toReversed() },
    { ...text, oneOf: either },
    { ...text, allOf: [{ anyOf: either }, { anyOf: either }] },
  ]
  return schemas.map((a) => createDefinition(JSON.stringify(a), { versions: [version({}, object({ a }))] }))
}

/** One step for each value of a field of the definition, or of its one version. */
function each(field: string, values: readonly unknown[]): RequestStep[] {
  return values.map((value) => createDefinition(`${field} ${JSON.stringify(value)}`, { [field]: value }))
}

function eachOfVersion(field: string, values: readonly unknown[], schema?: object): RequestStep[] {
  return values.map((value) =>
    createDefinition(`${field} ${JSON.stringify(value)}`, { versions: [version({ [field]: value }, schema)] }),
  )
}

function types(): RequestStep[] {
  const fields = [
    { type: "strin" },
    { type: "strin", default: "x" },
    { type: "strin", default: 5 },
    { type: "file", default: "x" },
    { type: "strin", default: { a: 1 } },
    { type: "number", default: [{ a: 1 }] },
    object({ a: text }, { default: { a: 5, b: 1 } }),
    { type: "array", items: { type: "strin", default: "x" } },
    { type: "array", items: { type: "strin" }, default: ["x"] },
    object({ a: { type: "strin" } }, { default: { a: "x" } }),
    { type: "array", items: text, default: [5] },
    { type: "object", additionalProperties: false, default: { a: 1 } },
  ]
  const status = { subresources: { status: {} } }
  const roots = [{ minProperties: 1 }, { anyOf: [{}] }, { required: ["spec"] }, { description: "x" }, { enum: [{}] }]
  return [
    ...fields.map((spec) => createDefinition(JSON.stringify(spec), { versions: [version({}, object({ spec }))] })),
    ...roots.map((more) =>
      createDefinition(`root ${JSON.stringify(more)}`, { versions: [version(status, object({ spec: text }, more))] }),
    ),
  ]
}

function names(): RequestStep[] {
  const given = { plural: "things", kind: "Thing" }
  const long = "x".repeat(64)
  const faulty = [
    {},
    { plural: "things" },
    { kind: "Thing" },
    { plural: "", kind: "" },
    { plural: "th.ings", kind: "Thing" },
    { ...given, singular: "Thing" },
    { ...given, listKind: "Thing" },
    { ...given, listKind: "bad_list" },
    { plural: "things", kind: "bad_kind" },
    { plural: "things", kind: "9Thing" },
    { plural: "things", kind: long },
    { ...given, singular: long, listKind: long, shortNames: [long] },
    { ...given, shortNames: ["a", "A", "", "a", "things"] },
    { ...given, categories: ["all", "A_", ""] },
    { ...given, bogus: 1 },
    { plural: 1 },
    null,
    "x",
  ]
  const groups = ["", "example", "Example.com", "example.com.", "k8s.io", "x.kubernetes.io", "1.com", "-a.com", null, 5]
  return [
    ...each("names", faulty),
    ...groups.map((one) => createDefinition(`group ${String(one)}`, { group: one }, `things.${String(one)}`)),
    ...each("scope", ["", "namespaced", null, 5, "Both"]),
    createDefinition("another name", {}, "things"),
  ]
}

function versions(): RequestStep[] {
  const rest = { storage: false }
  const other = version({ name: "v2", ...rest }, object({ a: { ...text, enum: ["a<b"], maxLength: 5 } }))
  const sets = [
    [],
    null,
    [version({ storage: false }), version({ name: "v2", ...rest })],
    [version(), version({ name: "v2" })],
    [version({ served: false })],
    [version(), version(rest)],
    [version(), version(rest), version({ ...rest, deprecated: true, deprecationWarning: "x" })],
    [version(), { ...other, name: "v1" }],
    [version({ additionalPrinterColumns: [{ name: "A", type: "string", jsonPath: ".a" }] }), version(rest)],
    [{ name: "v1", served: true, storage: true }],
    [version({ schema: {} })],
    [version({ schema: null })],
    [version(), { name: "v2", served: true, storage: false }],
    [{ name: "v1", storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    [version({ bogus: 1 })],
    [version({ served: "x" })],
  ]
  const warnings = [
    [true, ""],
    [true, "a\nb"],
    [true, "ü"],
    [false, "x"],
  ]
  return [
    ...each("versions", sets),
    ...eachOfVersion("name", ["", "V1", "v1.1", "1", "v_1", "x".repeat(64), "v1alpha1", null, 5]),
    ...warnings.map(([deprecated, deprecationWarning]) =>
      createDefinition(`deprecated ${String(deprecated)} ${JSON.stringify(deprecationWarning)}`, {
        versions: [version({ deprecated, deprecationWarning })],
      }),
    ),
    createDefinition("preserveUnknownFields", { preserveUnknownFields: true }),
  ]
}

function conversions(): RequestStep[] {
  const [url, reviewed] = ["https://x", { conversionReviewVersions: ["v1"] }]
  const webhooks = [
    undefined,
    {},
    null,
    reviewed,
    { conversionReviewVersions: [] },
    { clientConfig: {}, ...reviewed },
    { clientConfig: { url: "http://x" }, ...reviewed },
    { clientConfig: { url } },
    { clientConfig: { url }, conversionReviewVersions: ["v2"] },
    { clientConfig: { url }, conversionReviewVersions: ["v1", "v1"] },
    { clientConfig: { url }, conversionReviewVersions: ["V_1"] },
    { clientConfig: { url, service: { name: "a", namespace: "b" } }, ...reviewed },
    { clientConfig: { service: {} }, ...reviewed },
    { clientConfig: { service: { name: "a", namespace: "b", port: 70000, path: "x" } }, ...reviewed },
    { clientConfig: { service: { name: "a", namespace: "b", path: "/a b/" } }, ...reviewed },
    { clientConfig: { url: "https://u:p@x/?a=b#c" }, ...reviewed },
    { clientConfig: { url, caBundle: "bm90IGEgY2VydA==" }, ...reviewed },
  ]
  return each("conversion", [
    {},
    null,
    { strategy: "" },
    { strategy: "Bogus" },
    ...["None", "Webhook"].flatMap((strategy) => webhooks.map((webhook) => ({ strategy, webhook }))),
  ])
}

function subresources(): RequestStep[] {
  const paths =
    "|spec.a|.spec|.spec.|.spec.a|.spec.a.b|.status.a|.spec.a[0]|.spec['a']|.spec.*|.a|.spec..a|{.spec.a}|.spec.a b".split(
      "|",
    )
  const both = { specReplicasPath: ".spec.a", statusReplicasPath: ".status.a" }
  const scales = paths.flatMap((path) => [
    { ...both, specReplicasPath: path },
    { ...both, statusReplicasPath: path },
    { ...both, labelSelectorPath: path },
  ])
  return eachOfVersion("subresources", [
    {},
    null,
    { status: null },
    { status: { a: 1 } },
    { status: "x" },
    { scale: {} },
    ...scales.map((scale) => ({ scale })),
  ])
}

function columns(): RequestStep[] {
  const column = { name: "a", type: "string", jsonPath: ".a" }
  const paths =
    "|a|.a|.a.b[0]|{.a}|.a[|.a[?(@.b==1)]|.a[*]|.|.a['b']|$.a|.a}|.a[-1]| .a|.a b|{range .a}|.a[?(@.b in 'x')]|.a['b|.a[]|.a[x]".split(
      "|",
    )
  return eachOfVersion("additionalPrinterColumns", [
    null,
    [{}],
    [column, column],
    ...["object", "array", "", "String", "date"].map((type) => [{ ...column, type }]),
    ...["int32", "bogus", "", "binary"].map((format) => [{ ...column, format }]),
    ...[-1, 2147483648, "x"].map((priority) => [{ ...column, priority }]),
    ...paths.map((jsonPath) => [{ ...column, jsonPath }]),
  ])
}

function selectable(): RequestStep[] {
  const fields = {
    a: text,
    b: { type: "integer" },
    c: { type: "number" },
    e: object({ x: text }),
    l: { type: "array", items: object({ x: text }) },
    m: { type: "object", additionalProperties: text },
    "a-b": text,
    i: { "x-kubernetes-int-or-string": true },
    p: { "x-kubernetes-preserve-unknown-fields": true },
  }
  const schema = object({ spec: object(fields), metadata: object({ name: text }), status: object({ a: text }) })
  const paths =
    "|a|.spec.a|.spec.b|.spec.c|.spec.e|.spec.e.x|.spec.l[0].x|.spec.l.x|.spec.m|.spec.m.k|.spec.m['k']|.spec['a']|.spec.a-b|.spec.i|.spec.p.q|.metadata.name|.metadata|.status.a|.spec.absent|.|..|.spec.|.spec..a|.spec.a.|.spec.a b|.kind|[spec]|['spec'].a|.spec.a[|.spec]|{.spec.a}|.spec.*".split(
      "|",
    )
  const one = { jsonPath: ".spec.a" }
  return eachOfVersion(
    "selectableFields",
    [
      ...paths.map((jsonPath) => [{ jsonPath }]),
      null,
      "x",
      [{}],
      [one, one, one],
      Array.from({ length: 9 }, () => one),
      Array.from({ length: 9 }, (_, index) => ({ jsonPath: `.spec.m.k${index}` })),
    ],
    schema,
  )
}
