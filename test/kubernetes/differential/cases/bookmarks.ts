// The bookmark that ends the initial events of a watch, in every form, with and without objects before it. A DaemonSet's bookmarks have
// an annotation of their own.

import { asMetadata, asTable } from "../generate/life-scenarios.ts"
import { kindNamed } from "../generate/objects.ts"
import { mergePatch, patch, post, remove, type Scenario, type Step, watch } from "../scenario.ts"

const forms = [{}, asTable, asMetadata, { accept: "application/vnd.kubernetes.protobuf" }]
const initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
/** Upstream sends a bookmark without that annotation about a second after the watch began. */
const long = "timeoutSeconds=3"

export function bookmarkCases(): Scenario[] {
  return ["apps/v1/daemonsets", "v1/configmaps"].map((resource) => ({
    name: `initial events of ${resource} end with a bookmark`,
    steps: bookmarks(resource),
  }))
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
