// The bookmark that ends the initial events of a watch, in every form, with and without objects before it. A DaemonSet's bookmarks have
// an annotation of their own, those of custom resources no creation time. Tables have the metadata of whatever has its annotation.

import type { Json } from "../../../../apimachinery/object.ts"
import { asMetadata, asTable } from "../generate/life-scenarios.ts"
import { kindNamed } from "../generate/objects.ts"
import { get, mergePatch, patch, post, remove, type RequestStep, type Scenario, type Step, watch } from "../scenario.ts"
import { definitionOf, definitions } from "./things.ts"

const forms = [{}, asTable, asMetadata, { accept: "application/vnd.kubernetes.protobuf" }]
const initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
/** Upstream sends a bookmark without that annotation about a second after the watch began. */
const long = "timeoutSeconds=3"

export function bookmarkCases(): Scenario[] {
  return [
    ...["apps/v1/daemonsets", "v1/configmaps"].map((resource) => ({
      name: `initial events of ${resource} end with a bookmark`,
      steps: bookmarks(resource),
    })),
    { name: "initial events of a custom resource end with a bookmark", steps: ofCustomResource() },
    { name: "a table has the metadata of what says that initial events end", steps: inTables() },
  ]
}

function bookmarks(resource: string): Step[] {
  const kind = kindNamed(resource)
  const inForms = (parameters: string): Step[] =>
    forms.map((headers) => watch(`${kind.path}?${initial}${parameters}`, { headers }))
  return [
    ...inForms(""),
    post(kind.path, kind.object(), { save: "made" }),
    ...inForms(""),
    ...inForms("&resourceVersion=@{made.metadata.resourceVersion}"),
    ...inForms("&labelSelector=stage%3Dtwo&resourceVersion=0"),
    watch(`${kind.path}?${initial}&${long}`, { untilEnd: true }),
    watch(`${kind.path}?allowWatchBookmarks=true&resourceVersion=@{made.metadata.resourceVersion}`),
    patch(kind.objectPath, mergePatch, { metadata: { labels: { stage: "two" } } }),
    ...inForms("&labelSelector=stage%3Dtwo"),
    remove(`${kind.objectPath}?gracePeriodSeconds=0`),
  ]
}

const included = ["", "None", "Metadata", "Object"].map((what) => `includeObject=${what}`)

/** With columns of its own, and without. */
function ofCustomResource(): Step[] {
  const group = "bm@{id}.example.com"
  const paths = ["v1", "v2"].map((version) => `/apis/${group}/${version}/namespaces/@{ns}/things`)
  const [things = ""] = paths
  const jsonPaths = [".metadata.name", ".metadata.creationTimestamp", ".metadata.annotations", ".kind", ".spec"]
  const columns = jsonPaths.flatMap((jsonPath) =>
    ["string", "date"].map((type) => ({ name: `${jsonPath} as ${type}`, type, jsonPath })),
  )
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }
  const version = { served: true, schema }
  const versions = [
    { ...version, name: "v1", storage: true },
    { ...version, name: "v2", storage: false, additionalPrinterColumns: columns },
  ]
  const watches = paths.flatMap((path) => [
    ...forms.slice(0, 3).map((headers) => watch(`${path}?${initial}`, { headers })),
    ...included.map((what) => watch(`${path}?${initial}&${what}`, { headers: asTable })),
  ])
  return [
    post(definitions, definitionOf(group, {}, {}, { versions }) as Json, { label: "WRITE definition" }),
    get(things, { untilCode: 200 }),
    ...watches,
    post(things, { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" } }),
    ...watches,
  ]
}

function inTables(): Step[] {
  const path = "/api/v1/namespaces/@{ns}/configmaps"
  const annotated = (name: string, value: string): RequestStep =>
    post(path, { metadata: { name, annotations: { "k8s.io/initial-events-end": value } } })
  return [
    ...included.map((what) => watch(`${path}?${initial}&${what}`, { headers: asTable })),
    annotated("a", "true"),
    annotated("b", "false"),
    ...included.flatMap((what): Step[] => [
      get(`${path}?${what}`, { headers: asTable }),
      get(`${path}/a?${what}`, { headers: asTable }),
      watch(`${path}?${initial}&${what}`, { headers: asTable }),
    ]),
  ]
}
