// The lifecycle of an object of every kind: every verb, patch type, response format and subresource, with the errors of each.

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
  strategicPatch,
  watch,
} from "../scenario.ts"
import { type JsonObject, type Kind, nameOf } from "./objects.ts"

export const asTable = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" }
export const asMetadata = { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" }
export const asMetadataList = { accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io" }
export const asYaml = { accept: "application/yaml" }

export function lifeScenarios(kind: Kind): Scenario[] {
  return [
    { name: `${kind.title} lives from create to delete`, steps: life(kind) },
    { name: `${kind.title} is patched in every way`, steps: patches(kind) },
    { name: `${kind.title} is changed only in earnest`, steps: dryRuns(kind) },
    { name: `${kind.title} is watched`, steps: watched(kind) },
    { name: `${kind.title} is listed`, steps: listed(kind) },
    { name: `${kind.title} is not served in other ways`, steps: refused(kind) },
  ]
}

/** Restricts lists to this scenario's objects. */
function own(kind: Kind): string {
  return kind.facts.namespaced ? kind.path : `${kind.path}?labelSelector=own%3D@{id}`
}

function labelled(object: JsonObject): JsonObject {
  const metadata = object["metadata"] as JsonObject
  return { ...object, metadata: { ...metadata, labels: { own: "@{id}" } } }
}

function withMeta(object: JsonObject, more: JsonObject): JsonObject {
  return { ...object, metadata: { ...(object["metadata"] as JsonObject), ...more } }
}

function life(kind: Kind): RequestStep[] {
  const object = labelled(kind.object())
  const path = kind.objectPath
  return [
    post(kind.path, object, { save: "made" }),
    post(kind.path, object, { label: "POST again" }),
    get(path),
    get(path, { headers: asYaml, label: "GET yaml" }),
    get(path, { headers: asTable, label: "GET table" }),
    get(path, { headers: asMetadata, label: "GET metadata" }),
    get(`${path}?resourceVersion=0`),
    put(path, withMeta(object, { annotations: { a: "b" } }), { label: "PUT changed" }),
    put(path, withMeta(object, { annotations: { a: "b" } }), { label: "PUT unchanged" }),
    put(path, withMeta(object, { resourceVersion: "@{made.metadata.resourceVersion}" }), { label: "PUT old revision" }),
    put(path, withMeta(object, { resourceVersion: "abc" }), { label: "PUT bad revision" }),
    put(path, withMeta(object, { uid: "00000000-0000-0000-0000-000000000000" }), { label: "PUT other uid" }),
    put(path, withMeta(object, { name: "another" }), { label: "PUT other name" }),
    put(path, { ...object, kind: "Other" }, { label: "PUT other kind" }),
    put(`${kind.path}/absent-@{id}`, withMeta(object, { name: "absent-@{id}" }), { label: "PUT absent" }),
    get(`${path}/status`),
    get(`${path}/scale`),
    get(`${path}/bogus`),
    remove(path, { preconditions: { uid: "00000000-0000-0000-0000-000000000000" } }, { label: "DELETE other uid" }),
    remove(path, { preconditions: { resourceVersion: "1" } }, { label: "DELETE other revision" }),
    remove(`${path}?propagationPolicy=Bogus`),
    remove(path, { orphanDependents: true, propagationPolicy: "Orphan" }, { label: "DELETE two policies" }),
    remove(`${path}?gracePeriodSeconds=-5&dryRun=All`),
    remove(path, { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: 0 }, { label: "DELETE now" }),
    get(path, { label: "GET deleted" }),
    remove(path, undefined, { label: "DELETE deleted" }),
    post(kind.path, withMeta(object, { finalizers: ["example.com/held"] }), { label: "POST held" }),
    remove(`${path}?gracePeriodSeconds=0`, undefined, { label: "DELETE held" }),
    remove(`${path}?gracePeriodSeconds=0`, undefined, { label: "DELETE held again" }),
    patch(path, mergePatch, { metadata: { labels: { more: "x" } } }, { label: "PATCH dying" }),
    patch(
      path,
      mergePatch,
      { metadata: { finalizers: ["example.com/held", "example.com/more"] } },
      { label: "PATCH add finalizer" },
    ),
    patch(path, mergePatch, { metadata: { finalizers: null } }, { label: "PATCH let go" }),
    get(path, { label: "GET gone" }),
  ]
}

function patches(kind: Kind): RequestStep[] {
  const path = kind.objectPath
  const types: [string, Json][] = [
    [mergePatch, { metadata: { labels: { a: "merge", b: "merge" } } }],
    [strategicPatch, { metadata: { labels: { a: "strategic", b: null } } }],
    [jsonPatch, [{ op: "replace", path: "/metadata/labels/a", value: "json" }]],
  ]
  const patchAll = (where: string): RequestStep[] =>
    types.map(([type, body]) => patch(where, type, body, { label: `PATCH ${type}${where === path ? "" : " status"}` }))
  return [
    post(kind.path, kind.object(), { save: "made" }),
    patch(path, mergePatch, {}, { label: "PATCH nothing first" }),
    ...patchAll(path),
    patch(path, mergePatch, {}, { label: "PATCH nothing" }),
    patch(path, mergePatch, { metadata: { resourceVersion: "1" } }, { label: "PATCH old revision" }),
    patch(path, mergePatch, { metadata: { name: "another" } }, { label: "PATCH name" }),
    patch(path, mergePatch, { metadata: { labels: { "bad key!": "x" } } }, { label: "PATCH bad label" }),
    patch(path, mergePatch, { bogus: 1 }, { label: "PATCH unknown field" }),
    patch(`${path}?fieldValidation=Strict`, mergePatch, { bogus: 1 }, { label: "PATCH unknown field, strict" }),
    patch(path, mergePatch, [1], { label: "PATCH merge with a list" }),
    patch(path, mergePatch, "{", { label: "PATCH merge with no JSON" }),
    patch(path, strategicPatch, "7", { label: "PATCH strategic with a number" }),
    patch(path, jsonPatch, {}, { label: "PATCH json with an object" }),
    patch(path, jsonPatch, [{ op: "test", path: "/metadata/name", value: "x" }], { label: "PATCH json failed test" }),
    patch(path, jsonPatch, [{ op: "remove", path: "/absent" }], { label: "PATCH json remove absent" }),
    patch(path, jsonPatch, [{ op: "bogus", path: "/metadata" }], { label: "PATCH json bogus op" }),
    patch(path, jsonPatch, [{ op: "add", path: "metadata/x", value: 1 }], { label: "PATCH json bad pointer" }),
    patch(path, "application/json", {}, { label: "PATCH plain json" }),
    patch(path, "text/plain", "x", { label: "PATCH text" }),
    patch(`${kind.path}/absent-@{id}`, mergePatch, {}, { label: "PATCH absent" }),
    patch(`${kind.path}/absent-@{id}`, strategicPatch, {}, { label: "PATCH absent, strategic" }),
    patch(`${kind.path}/absent-@{id}`, jsonPatch, [], { label: "PATCH absent, json" }),
    ...(kind.facts.subresources.some(({ name }) => name === "status") ? patchAll(`${path}/status`) : []),
    get(path),
  ]
}

function dryRuns(kind: Kind): RequestStep[] {
  const object = kind.object()
  const path = kind.objectPath
  const changed = withMeta(object, { labels: { a: "b" } })
  return [
    post(`${kind.path}?dryRun=All`, object),
    get(path, { label: "GET not made" }),
    post(`${kind.path}?dryRun=Some`, object),
    post(`${kind.path}?dryRun=All&fieldManager=${"x".repeat(130)}`, object, { label: "POST long manager" }),
    post(kind.path, object, { save: "made" }),
    post(`${kind.path}?dryRun=All`, object, { label: "POST dry run again" }),
    put(`${path}?dryRun=All`, changed),
    patch(`${path}?dryRun=All`, mergePatch, { metadata: { labels: { a: "b" } } }),
    remove(`${path}?dryRun=All`),
    remove(path, { dryRun: ["All"] }, { label: "DELETE dry run in body" }),
    remove(path, { dryRun: ["Bogus"] }, { label: "DELETE bogus dry run in body" }),
    get(path, { label: "GET unchanged" }),
  ]
}

function watched(kind: Kind): Scenario["steps"] {
  const object = labelled(kind.object())
  const path = kind.objectPath
  const list = own(kind)
  const and = list.includes("?") ? "&" : "?"
  const initial = "sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
  const { name } = object["metadata"] as { name: string }
  return [
    get(list, { save: "list", label: "LIST" }),
    watch(`${list}${and}resourceVersion=@{list.metadata.resourceVersion}`),
    watch(`${kind.path}?fieldSelector=metadata.name%3D${name}&resourceVersion=@{list.metadata.resourceVersion}`, {
      headers: asMetadata,
    }),
    watch(`${list}${and}resourceVersion=@{list.metadata.resourceVersion}`, {
      headers: asTable,
    }),
    watch(`${kind.path}?labelSelector=own%3D@{id},stage%3Dtwo&resourceVersion=@{list.metadata.resourceVersion}`),
    watch(`${list}${and}${initial}`),
    watch(`${list}${and}${initial}`, { headers: asTable }),
    post(kind.path, object, { save: "made" }),
    patch(path, mergePatch, { metadata: { labels: { stage: "two" } } }),
    patch(path, mergePatch, { metadata: { labels: { stage: "two" } } }, { label: "PATCH nothing" }),
    patch(path, mergePatch, { metadata: { annotations: { a: "b" } } }),
    patch(path, mergePatch, { metadata: { labels: { stage: "three" } } }),
    patch(path, mergePatch, { metadata: { labels: { stage: "two" } } }),
    remove(`${path}?gracePeriodSeconds=0`),
  ]
}

function listed(kind: Kind): RequestStep[] {
  const list = own(kind)
  const and = list.includes("?") ? "&" : "?"
  const other = nameOf(kind.other())
  return [
    get(list, { label: "LIST none" }),
    post(kind.path, labelled(kind.object()), { save: "made" }),
    post(kind.path, labelled(kind.other()), { save: "other" }),
    get(list, { label: "LIST" }),
    get(list, { headers: asTable, label: "LIST table" }),
    get(`${list}${and}includeObject=Object`, { headers: asTable, label: "LIST table with objects" }),
    get(`${list}${and}includeObject=None`, { headers: asTable, label: "LIST table without objects" }),
    get(list, { headers: asMetadataList, label: "LIST metadata" }),
    get(list, { headers: asYaml, label: "LIST yaml" }),
    get(`${list}${and}limit=1`, { label: "LIST limit" }),
    get(`${kind.path}?fieldSelector=metadata.name%3D${other}`, { label: "LIST by name" }),
    get(`${list}${and}fieldSelector=metadata.name%21%3D${other}`, { label: "LIST by other name" }),
    get(`${list}${and}fieldSelector=spec.bogus%3Dx`, { label: "LIST by unknown field" }),
    get(`${kind.path}?labelSelector=own%3D@{id},absent`, { label: "LIST by absent label" }),
    ...(kind.facts.selectableFields ?? []).flatMap((field) => [
      get(`${list}${and}fieldSelector=${field}%3Dx`, { label: `LIST by ${field}` }),
      get(`${list}${and}fieldSelector=${field}%21%3Dx`, { label: `LIST by other ${field}` }),
    ]),
    ...(kind.facts.namespaced ? everywhere(kind) : []),
    remove(`${kind.path}?labelSelector=own%3D@{id}&dryRun=All`, undefined, { label: "DELETE all, dry run" }),
    remove(`${kind.path}?labelSelector=own%3D@{id}&gracePeriodSeconds=0`, undefined, { label: "DELETE all" }),
    get(list, { label: "LIST none again" }),
  ]
}

function everywhere(kind: Kind): RequestStep[] {
  const path = kind.path.replace("namespaces/@{ns}/", "")
  return [
    get(`${path}?labelSelector=own%3D@{id}`, { label: "LIST of all namespaces" }),
    get(`${path}?fieldSelector=metadata.namespace%3D@{ns}`, { label: "LIST by namespace" }),
    post(path, kind.object(), { label: "POST without namespace" }),
    remove(path, undefined, { label: "DELETE in all namespaces" }),
    post(kind.path.replace("@{ns}", "absent"), kind.object(), { label: "POST in absent namespace" }),
    get(kind.path.replace("@{ns}", "absent"), { label: "LIST in absent namespace" }),
    get(`${kind.path.replace("@{ns}", "absent")}/absent`, { label: "GET in absent namespace" }),
    post(kind.path, withMeta(kind.object(), { namespace: "another" }), { label: "POST of another namespace" }),
  ]
}

function refused(kind: Kind): RequestStep[] {
  const path = `${kind.path}/absent-@{id}`
  const object = kind.object()
  const without = (field: string): JsonObject =>
    Object.fromEntries(Object.entries(object).filter(([key]) => key !== field))
  return [
    put(kind.path, object, { label: "PUT collection" }),
    patch(kind.path, mergePatch, {}, { label: "PATCH collection" }),
    post(path, object, { label: "POST name" }),
    { method: "OPTIONS", path, label: "OPTIONS" },
    { method: "HEAD", path, label: "HEAD absent" },
    post(kind.path, "", { label: "POST nothing" }),
    post(kind.path, "not json", { label: "POST no JSON" }),
    post(kind.path, [], { label: "POST a list" }),
    post(kind.path, "null", { label: "POST null" }),
    post(kind.path, {}, { label: "POST empty" }),
    post(kind.path, without("metadata"), { label: "POST without metadata" }),
    post(`${kind.path}?dryRun=All`, without("kind"), { label: "POST without kind" }),
    post(`${kind.path}?dryRun=All`, without("apiVersion"), { label: "POST without apiVersion" }),
    post(kind.path, { ...object, apiVersion: "bogus/v1" }, { label: "POST other group" }),
    post(kind.path, { ...object, kind: "Bogus" }, { label: "POST other kind" }),
    post(kind.path, object, { contentType: "text/plain", label: "POST text" }),
    get(path, { headers: { accept: "text/plain" }, label: "GET as text" }),
    get(path, { headers: asTable, label: "GET absent table" }),
    put(`${path}/status`, object, { label: "PUT absent status" }),
    put(`${path}/scale`, object, { label: "PUT absent scale" }),
    remove(`${path}/status`, undefined, { label: "DELETE status" }),
  ]
}
