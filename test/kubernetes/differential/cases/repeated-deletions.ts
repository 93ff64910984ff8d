// Kinds whose contents are deleted first: what they are told that delete them again meanwhile, and with which preconditions.

import { get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"

const namespaces = "/api/v1/namespaces"
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
const asMetadata = { headers: { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" } }

export function repeatedDeletionCases(): Scenario[] {
  return [
    { name: "a namespace is deleted again", steps: ofNamespaces() },
    { name: "a definition is deleted again", steps: ofDefinitions() },
  ]
}

function ofNamespaces(): RequestStep[] {
  const url = (name: string, query = ""): string => `${namespaces}/${name}-@{id}${query}`
  const begin = (name: string, finalizers: string[]): RequestStep =>
    post(namespaces, { metadata: { name: `${name}-@{id}`, finalizers } })
  const emptied = (name: string, finalizers: string[]): RequestStep =>
    put(`${url(name)}/finalize`, { metadata: { name: `${name}-@{id}`, finalizers }, spec: {} })
  return [
    // Upstream puts several finalizers in random order.
    begin("n", []),
    remove(url("n", "?propagationPolicy=Foreground")),
    ...[
      "propagationPolicy=Orphan",
      "orphanDependents=true",
      "resourceVersion=1",
      "dryRun=All&orphanDependents=true",
    ].map((query) => remove(url("n", `?${query}`))),
    emptied("n", ["a.b/c"]),
    ...["orphanDependents=false", "propagationPolicy=Background", "uid=x"].map((query) =>
      remove(url("n", `?${query}`)),
    ),
    patch(url("n"), mergePatch, { metadata: { finalizers: null } }),
    get(url("n")),
    begin("m", ["orphan"]),
    remove(url("m", "?orphanDependents=false")),
    emptied("m", ["foregroundDeletion"]),
    remove(url("m", "?propagationPolicy=Orphan")),
    remove(url("m")),
    remove(url("m", "?propagationPolicy=Background")),
    get(url("m")),
  ]
}

/** As metadata: conditions are written by upstream's controllers in their own time. */
function ofDefinitions(): RequestStep[] {
  const group = "d@{id}.example.com"
  const name = `things.${group}`
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }]
  const spec = { group, scope: "Namespaced", names: { plural: "things", kind: "Thing" }, versions }
  const again = (query: string): RequestStep => remove(`${definitions}/${name}?${query}`, undefined, asMetadata)
  return [
    post(definitions, { metadata: { name, finalizers: ["orphan"] }, spec }, asMetadata),
    get(`/apis/${group}/v1/things`, { untilCode: 200 }),
    ...["uid=x", "resourceVersion=1", "propagationPolicy=Foreground"].map(again),
    get(`${definitions}/${name}`, { untilText: "removed all instances" }),
    ...["propagationPolicy=Orphan", "uid=x", "propagationPolicy=Foreground", "orphanDependents=false"].map(again),
    patch(`${definitions}/${name}`, mergePatch, { metadata: { finalizers: null } }, asMetadata),
    get(`${definitions}/${name}`, asMetadata),
  ]
}
