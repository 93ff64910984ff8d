// Paths within a definition's schema, of selectable fields and of rules: quotes, brackets and maps without a schema.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, post, type RequestStep, type Scenario } from "../scenario.ts"
import { definitions } from "./things.ts"

const group = "q@{id}.example.com"

export function definitionPathCases(): Scenario[] {
  return [
    { name: "a definition selects by odd paths", steps: selectable() },
    { name: "a definition has rules with odd paths", steps: ruled() },
    { name: "a definition selects by fields of no schema", steps: schemaless() },
    { name: "a custom resource violates rules with odd paths", steps: violated() },
  ]
}

const text = { type: "string" }
const fields = {
  a: text,
  m: { type: "object", additionalProperties: text },
  free: { type: "object", additionalProperties: true },
  maps: { type: "object", additionalProperties: { type: "object", additionalProperties: text } },
  none: { type: "object", additionalProperties: false },
  both: { type: "object", properties: {}, additionalProperties: text },
  open: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  "'a.b'": text,
  "'a": text,
  "b'c": text,
  "]": text,
  "[": text,
  ".": text,
  "a\\": text,
  "it's": text,
  "": text,
}

const paths = [
  ".spec.a",
  ".spec.m.'a.b'",
  ".spec.m.'a.b",
  ".spec.'a.b'",
  ".spec.'a",
  ".spec.b'c",
  ".spec.]",
  ".spec.[",
  ".spec..",
  ".spec...a",
  ".spec.a\\",
  ".spec.it's",
  ".spec.m.'a\\'b'",
  ".spec.m.'a'b",
  ".spec.m.''",
  ".spec.m.'",
  ".spec.m.é",
  ".spec.m.a b",
  ".spec.m.a]",
  ".spec.m]",
  ".spec.free.x",
  ".spec.none.x",
  ".spec.none",
  ".spec.both.x",
  ".spec.open.x",
  ".spec.maps.a.b",
  ".spec.maps.a",
  ".spec.maps.a.b.c",
  "'spec'.a",
  ".'spec'.a",
  ".spec.m['k']",
  ".spec.m['k",
  ".spec.m['k'",
  ".spec.m['k'x",
  ".spec.m['']",
  ".spec.m[]",
  ".spec.m[",
  ".spec['']",
  ".spec['a\\\\']",
  ".spec['it\\'s']",
  '.spec.m["k"]',
  ".spec.m['a.b]c']",
  ".spec.m['\\x41']",
  ".spec.m['\\t']",
  ".spec.m['\\q']",
  ".spec.free['x']",
  ".spec.none['x']",
]

const version = (more: object, spec: object = {}): object => ({
  name: "v1",
  served: true,
  storage: true,
  schema: {
    openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties: fields, ...spec } } },
  },
  ...more,
})
const body = (versions: readonly object[]): Json =>
  ({
    metadata: { name: `things.${group}` },
    spec: { group, scope: "Cluster", names: { plural: "things", kind: "Thing" }, versions },
  }) as unknown as Json
const dry = (label: string, versions: readonly object[]): RequestStep =>
  post(`${definitions}?dryRun=All`, body(versions), { label: `POST ${label}` })

function selectable(): RequestStep[] {
  return [
    ...paths.map((jsonPath) => dry(jsonPath, [version({ selectableFields: [{ jsonPath }] })])),
    dry("repeated", [
      version({ selectableFields: [".spec.m.a", ".spec.m.'a'", ".spec.m.a"].map((jsonPath) => ({ jsonPath })) }),
    ]),
  ]
}

const within = (path: string): string => path.replace(/^\.spec/, "")

function ruled(): RequestStep[] {
  return paths
    .map(within)
    .map((fieldPath) =>
      dry(JSON.stringify(fieldPath), [version({}, { "x-kubernetes-validations": [{ rule: "true", fieldPath }] })]),
    )
}

function schemaless(): RequestStep[] {
  const select = { selectableFields: [{ jsonPath: ".spec.a" }] }
  const bare = (name: string, more: object): object => ({ name, served: true, storage: name === "v1", ...more })
  return [
    dry("no schema", [bare("v1", select)]),
    dry("two empty schemas, one selects", [bare("v1", { schema: {}, ...select }), bare("v2", { schema: {} })]),
    dry("one empty schema", [version(select), bare("v2", { schema: {}, ...select })]),
  ]
}

const odd = [".m.'a.b'", ".'a.b'", ".]", ".free.x", ".free['x']", ".none", ".maps.a['b.c']", ".a\\"]

function violated(): RequestStep[] {
  const rules = odd.map((fieldPath) => ({ rule: "!has(self.a)", message: fieldPath, fieldPath }))
  return [
    post(definitions, body([version({}, { "x-kubernetes-validations": rules })]), { label: "WRITE definition" }),
    get(`/apis/${group}/v1/things`, { untilCode: 200 }),
    post(`/apis/${group}/v1/things`, {
      apiVersion: `${group}/v1`,
      kind: "Thing",
      metadata: { name: "a" },
      spec: { a: "x" },
    }),
  ]
}
