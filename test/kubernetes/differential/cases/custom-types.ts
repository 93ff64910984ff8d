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
      steps: [...made(), ...patches("a", true), ...patches("a/status", false)],
    },
    { name: "a custom resource is created below the path of another", steps: [...made(), ...created()] },
    { name: "a custom resource's collection is written", steps: [...made(), ...collection()] },
  ]
}

function made(): RequestStep[] {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }
  const versions = [
    { name: "v1", served: true, storage: true, schema, subresources: { status: {} } },
    { name: "v2", served: false, storage: false, schema },
    { name: "v3", served: true, storage: false, schema },
  ]
  return [
    post(definitions, definitionOf(group, {}, {}, { versions }) as Json, { label: "WRITE definition" }),
    get(things, { untilCode: 200 }),
    post(things, thing("a", { size: 1 })),
  ]
}

const kinds: Json[] = ["", null, 5, [], "Thing"]
const otherKinds: Json[] = ["Other", "thing"]
const versions: Json[] = [
  "",
  null,
  5,
  {},
  "a/b/c",
  ...["v1", "v2", "v3", "v1/"].map((version) => `${group}/${version}`),
]
const otherVersions: Json[] = ["v1", "other.example.com/v1"]

/** With `others`: of kinds that are not the definition's; upstream takes a status of them, and drops all managers. */
function patches(name: string, others: boolean): RequestStep[] {
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
    ...[...kinds, ...(others ? otherKinds : [])].flatMap((kind) => replaced("kind", kind)),
    ...[...versions, ...(others ? otherVersions : [])].flatMap((version) => replaced("apiVersion", version)),
    json({ op: "remove", path: "/kind" }),
    json({ op: "remove", path: "/apiVersion" }),
    merge({ kind: null, apiVersion: null }),
    ...(others ? [merge({ kind: "Other", apiVersion: "v1" })] : []),
  ]
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
