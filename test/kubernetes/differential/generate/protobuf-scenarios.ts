// Every kind in Kubernetes' protobuf: in requests, responses, and every response format, with every field.

import type { Json } from "../../../../apimachinery/object.ts"
import {
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  remove,
  type RequestStep,
  type Scenario,
  type Step,
  watch,
  withQuery,
} from "../scenario.ts"
import { type Field, fieldsOf, printPath, withValue } from "./fields.ts"
import type { JsonObject, Kind } from "./objects.ts"
import { valuesFor } from "./values.ts"

const type = "application/vnd.kubernetes.protobuf"
const inProtobuf = { headers: { accept: type } } as const
const as = (form: string): { accept: string } => ({ accept: `${type};as=${form};v=v1;g=meta.k8s.io` })
/** Maximum number of fields per scenario. */
const mostFields = 100

export function protobufScenarios(kind: Kind): Scenario[] {
  // All kinds have the same metadata, so it is visited once.
  const except = kind.title === "v1 ConfigMap" ? ["apiVersion", "kind"] : ["apiVersion", "kind", "metadata"]
  const fields = fieldsOf(kind.schema, []).filter(({ path }) => !except.includes(String(path[0])))
  const chunks: Field[][] = []
  for (let at = 0; at < fields.length; at += mostFields) chunks.push(fields.slice(at, at + mostFields))
  return [
    { name: `${kind.title} lives in protobuf`, steps: life(kind) },
    ...chunks.map((chunk, index) => ({
      name: `${kind.title} has any field in protobuf${index === 0 ? "" : ` (${index + 1})`}`,
      steps: chunk.map((field) => withField(kind, field)),
    })),
  ]
}

function life(kind: Kind): Step[] {
  const { metadata, ...rest } = kind.object()
  const object: JsonObject = {
    ...rest,
    metadata: { ...(metadata as JsonObject), labels: { own: "@{id}", b: "2" }, annotations: { z: "1", a: "ä" } },
  }
  const body = { ...inProtobuf, contentType: type, protobuf: kind.facts }
  const path = kind.objectPath
  const list = kind.facts.namespaced ? kind.path : `${kind.path}?labelSelector=own%3D@{id}`
  const from = "resourceVersion=@{list.metadata.resourceVersion}"
  return [
    get(list, { save: "list", label: "LIST" }),
    watch(withQuery(list, from), inProtobuf),
    watch(withQuery(list, from), { headers: as("PartialObjectMetadata") }),
    post(kind.path, object, body),
    post(kind.path, object, { ...body, label: "POST again" }),
    get(path, inProtobuf),
    get(path, { label: "GET json" }),
    get(path, { headers: as("Table"), label: "GET table" }),
    get(path, { headers: as("PartialObjectMetadata"), label: "GET metadata" }),
    get(path, { headers: as("PartialObjectMetadataList"), label: "GET metadata of a list" }),
    get(list, { ...inProtobuf, label: "LIST protobuf" }),
    get(list, { headers: as("Table"), label: "LIST table" }),
    get(list, { headers: as("PartialObjectMetadataList"), label: "LIST metadata" }),
    get(withQuery(list, "limit=9"), { ...inProtobuf, label: "LIST limit" }),
    get(withQuery(list, "fieldSelector=spec.bogus%3Dx"), { ...inProtobuf, label: "LIST by unknown field" }),
    get(`${path}-absent`, { ...inProtobuf, label: "GET absent" }),
    put(path, object, body),
    put(path, { ...object, metadata: { name: "another" } }, { ...body, label: "PUT other name" }),
    patch(path, mergePatch, { metadata: { labels: { b: "3" } } }, inProtobuf),
    patch(path, jsonPatch, [{ op: "test", path: "/metadata/name", value: "x" }], {
      ...inProtobuf,
      label: "PATCH fails",
    }),
    post(kind.path, { ...object, kind: "Bogus" }, { ...body, label: "POST other kind" }),
    post(kind.path, "no protobuf", { ...inProtobuf, contentType: type, label: "POST no protobuf" }),
    post(kind.path, "", { ...inProtobuf, contentType: type, label: "POST nothing" }),
    post(kind.path, "k8s\0", { ...inProtobuf, contentType: type, label: "POST an empty envelope" }),
    patch(path, type, "x", { ...inProtobuf, label: "PATCH in protobuf" }),
    remove(`${path}?gracePeriodSeconds=0`, undefined, inProtobuf),
    remove(path, undefined, { ...inProtobuf, label: "DELETE deleted" }),
  ]
}

function withField(kind: Kind, { path, schema }: Field): RequestStep {
  const [value = null] = valuesFor(schema, false) as (Json | undefined)[]
  const object = withValue(kind.object(), kind.schema, path, value)
  return post(`${kind.path}?dryRun=All`, object, {
    ...inProtobuf,
    contentType: type,
    protobuf: kind.facts,
    label: `POST ${printPath(path)}`,
  })
}
