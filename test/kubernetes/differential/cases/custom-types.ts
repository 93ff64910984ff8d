// Patches that change or remove the kind or the apiVersion of a custom resource, and requests whose path names too much or too little.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, jsonPatch, mergePatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"
import { definitionOf, definitions } from "./things.ts"

const group = "y@{id}.example.com"
const things = `/apis/${group}/v1/namespaces/@{ns}/things`
const thing = (name: string, spec: object = {}): Json =>
  ({ apiVersion: `${group}/v1`, kind: "Thing", metadata: { name }, spec }) as Json

export function customTypeCases(): Scenario[] {
  return [
    {
      name: "a custom resource's type is patched",
      steps: [...made(), ...patches("a"), ...patches("a/status"), ...statuses()],
    },
    { name: "a custom resource's type is patched, and unknown fields", steps: [...made(), ...unknownFields()] },
    {
      name: "a custom resource is replaced by one of another type",
      steps: [...made(), ...["a", "a/status"].flatMap(puts)],
    },
    { name: "a custom resource is created below the path of another", steps: [...made(), ...created()] },
    { name: "a custom resource's collection is written", steps: [...made(), ...collection()] },
  ]
}

function made(): RequestStep[] {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }
  const bare = { openAPIV3Schema: { type: "object", properties: { spec: { type: "object" } } } }
  const versions = [
    { name: "v1", served: true, storage: true, schema, subresources: { status: {} } },
    { name: "v2", served: false, storage: false, schema },
    { name: "v3", served: true, storage: false, schema },
    { name: "v4", served: true, storage: false, schema: bare, subresources: { status: {} } },
    { name: "v5", served: false, storage: false, schema: bare },
  ]
  return [
    post(definitions, definitionOf(group, {}, {}, { versions }) as Json, { label: "WRITE definition" }),
    get(things, { untilCode: 200 }),
    post(things, thing("a", { size: 1 }), { save: "a" }),
  ]
}

const kinds: Json[] = ["", null, 5, [], "Thing", "Other", "thing", "ThingList"]
const versions: Json[] = [
  "",
  null,
  5,
  {},
  "a/b/c",
  ...["v1", "v2", "v3", "v4", "v5", "v1/", "v9"].map((version) => `${group}/${version}`),
  "v1",
  "other.example.com/v1",
]

/** A status is taken of any kind, but of another one all managers are dropped. */
function patches(name: string): RequestStep[] {
  const path = `${things}/${name}?dryRun=All`
  const merge = (body: Json): RequestStep =>
    patch(path, mergePatch, body, { label: `MERGE ${name} ${JSON.stringify(body)}` })
  const json = (operation: object): RequestStep =>
    patch(path, jsonPatch, [operation] as Json, { label: `JSON ${name} ${JSON.stringify(operation)}` })
  const replaced = (field: string, value: Json): RequestStep[] => [
    merge({ [field]: value, status: { a: 1 } } as Json),
    json({ op: "replace", path: `/${field}`, value }),
  ]
  return [
    ...kinds.flatMap((kind) => replaced("kind", kind)),
    ...versions.flatMap((version) => replaced("apiVersion", version)),
    json({ op: "remove", path: "/kind" }),
    json({ op: "remove", path: "/apiVersion" }),
    merge({ kind: null, apiVersion: null }),
    merge({ kind: "Other", apiVersion: "v1" }),
  ]
}

/** Of another kind no field is unknown. */
function unknownFields(): RequestStep[] {
  const types: { [field: string]: Json }[] = [
    { kind: "Other" },
    { kind: "ThingList" },
    { kind: "Pod", apiVersion: "v1" },
    { apiVersion: "other.example.com/v4" },
    { kind: "Other", apiVersion: `${group}/v9` },
    { apiVersion: `${group}/v9` },
  ]
  const changes: { [field: string]: Json }[] = [
    { bogus: 1 },
    { spec: { bogus: 1 } },
    { spec: 1 },
    { metadata: { bogus: 1 } },
    { metadata: { labels: { a: 1 } } },
    { metadata: null },
    { status: { a: 1 } },
  ]
  const below = things.replace("/v1/", "/v4/")
  const send = (name: string, validation: string, body: { [field: string]: Json }): RequestStep[] => {
    const path = `${below}/${name}?dryRun=All&fieldValidation=${validation}`
    const label = `PATCH ${name} ${validation} ${JSON.stringify(body)}`
    const operations = Object.entries(body).map(([field, value]) => ({ op: "add", path: `/${field}`, value }))
    return [patch(path, mergePatch, body, { label }), patch(path, jsonPatch, operations, { label: `JSON ${label}` })]
  }
  return types.flatMap((type) =>
    changes.flatMap((change) =>
      ["Strict", "Warn", "Ignore"].flatMap((validation) =>
        ["a", "a/status"].flatMap((name) => send(name, validation, { ...type, ...change })),
      ),
    ),
  )
}

function statuses(): RequestStep[] {
  const write = (body: Json): RequestStep => patch(`${things}/a/status`, mergePatch, body)
  return [write({ kind: "Other", status: { a: 1 } }), write({ status: { a: 2 } }), get(`${things}/a`)]
}

/** Which kind it is matters last: after its name, and its version, which may be unspecified, wrong, or that of nothing. */
function puts(name: string): RequestStep[] {
  const types: Json[] = [
    ...kinds.map((kind) => ({ kind })),
    ...["", null, 5, "v1", `${group}/v2`, `${group}/v3`].map((apiVersion) => ({ apiVersion })),
  ]
  const metadata: { [name: string]: string }[] = [
    { name: "a", resourceVersion: "@{a.metadata.resourceVersion}" },
    { name: "a", resourceVersion: "1" },
    { name: "a" },
    { name: "b" },
  ]
  const send = (path: string, type: Json, meta: Json): RequestStep => {
    const body = { ...(thing("a") as object), ...(type as object), metadata: meta, status: { a: 1 } }
    return put(`${things}/${path}?dryRun=All`, body, { label: `PUT ${path} ${JSON.stringify([type, meta])}` })
  }
  return types.flatMap((type) => [
    ...metadata.map((meta) => send(name, type, meta)),
    send(name.replace("a", "b"), type, { name: "b" }),
  ])
}

function created(): RequestStep[] {
  const create = (at: string, body: Json): RequestStep =>
    post(`${things}/${at}`, body, { label: `POST ${JSON.stringify(body)} at ${at}` })
  return [
    create("b?dryRun=All", thing("b")),
    create("a?dryRun=All", thing("a")),
    create("a?dryRun=All", thing("c")),
    create("a", "{}"),
    create("b", { apiVersion: `${group}/v1`, kind: "Thing", metadata: {} }),
    create("c", thing("d")),
    create("a/status", thing("e")),
    get(things),
  ]
}

function collection(): RequestStep[] {
  const types = [mergePatch, jsonPatch, "application/json", "text/plain"]
  return [
    ...types.map((type) => patch(things, type, {}, { label: `PATCH as ${type}` })),
    ...types.map((contentType) => put(things, {}, { contentType, label: `PUT as ${contentType}` })),
    ...["OPTIONS", "TRACE"].flatMap((method) =>
      ["", "/a", "/a/status"].map((at) => ({ method, path: `${things}${at}` })),
    ),
  ]
}
