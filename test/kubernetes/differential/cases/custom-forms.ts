// Custom resources in every form that a client may ask for: one, a list, a watch and what a write answers.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, remove, type RequestStep, type Scenario, type Step, watch } from "../scenario.ts"
import { definitionOf, definitions } from "./things.ts"

const group = "f@{id}.example.com"
const things = `/apis/${group}/v1/namespaces/@{ns}/things`

const reduced = ["Table", "PartialObjectMetadata", "PartialObjectMetadataList"].flatMap((as) =>
  ["json", "yaml", "vnd.kubernetes.protobuf"].flatMap((format) =>
    ["v1", "v1beta1"].map((version) => `application/${format};as=${as};g=meta.k8s.io;v=${version}`),
  ),
)
const others = [
  "application/json;as=Bogus;g=meta.k8s.io;v=v1",
  "application/json;as=Table;g=meta.k8s.io;v=v2",
  "application/json;pretty=1",
  "application/json;stream=watch",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "application/vnd.kubernetes.protobuf,application/json",
  "application/cbor",
  "application/cbor,application/json",
  "application/*",
  "text/plain",
]

export function customFormCases(): Scenario[] {
  return [
    { name: "a custom resource is read in every form", steps: [...made(), ...[...reduced, ...others].flatMap(read)] },
    { name: "a custom resource is written in every form", steps: [...made(), ...reduced.flatMap(written)] },
    { name: "a custom resource's table has its objects in every form", steps: [...made(), ...included()] },
  ]
}

function made(): RequestStep[] {
  const columns = [
    { name: "Color", type: "string", jsonPath: ".spec.color" },
    { name: "Size", type: "integer", priority: 1, jsonPath: ".spec.size" },
  ]
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }
  const spec = { color: "red", size: 1 }
  const thing = (name: string): Json =>
    ({ apiVersion: `${group}/v1`, kind: "Thing", metadata: { name, labels: { name } }, spec }) as Json
  const definition = definitionOf(group, {}, { schema, additionalPrinterColumns: columns }) as Json
  return [
    post(definitions, definition, { label: "WRITE definition" }),
    get(things, { untilCode: 200 }),
    ...["a", "b", "c"].map((name) => post(things, thing(name))),
  ]
}

const as = (accept: string, label: string): { headers: { accept: string }; label: string } => ({
  headers: { accept },
  label: `${label} as ${accept}`,
})

function read(form: string): Step[] {
  return [
    get(`${things}/a`, as(form, "GET")),
    get(`${things}/none`, as(form, "GET none")),
    get(`${things}?limit=2`, as(form, "LIST")),
    watch(`${things}?labelSelector=name=a`, { headers: { accept: form } }),
  ]
}

function written(form: string): RequestStep[] {
  return [
    patch(`${things}/b?dryRun=All`, mergePatch, { spec: { size: 2 } }, as(form, "PATCH")),
    remove(`${things}/b?dryRun=All`, undefined, as(form, "DELETE")),
    remove(`${things}?dryRun=All`, undefined, as(form, "DELETE all")),
  ]
}

function included(): Step[] {
  const [table = ""] = reduced
  return ["None", "Metadata", "Object", "Bogus", "", "%3C%C3%A9%E2%80%A8%3E"].flatMap((what) => [
    get(`${things}?includeObject=${what}`, as(table, "LIST")),
    get(`${things}/a?includeObject=${what}`, as(table, "GET")),
    watch(`${things}?includeObject=${what}`, { headers: { accept: table } }),
  ])
}
