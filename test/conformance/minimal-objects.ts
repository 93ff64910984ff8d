// The objects of minimal-objects.yaml, and the paths at which they are served.

import { readFileSync } from "node:fs"
import { parseAllDocuments } from "yaml"
import type { KubeObject } from "../../apimachinery/object.ts"
import { builtInResources, type ResourceFacts } from "../../apimachinery/schema/facts.ts"

const text = readFileSync(new URL("./minimal-objects.yaml", import.meta.url), "utf8")

const objects = new Map(
  parseAllDocuments(text)
    .map((document) => document.toJS() as KubeObject)
    .map((object) => [`${object.apiVersion}/${object.kind}`, object]),
)

export const apiVersionOf = ({ group, version }: ResourceFacts): string =>
  group === "" ? version : `${group}/${version}`

/** A copy. Throws if the kind has none. */
export function minimalObject(resource: ResourceFacts): KubeObject {
  const found = objects.get(`${apiVersionOf(resource)}/${resource.kind}`)
  if (found === undefined) throw new Error(`minimal-objects.yaml has no ${resource.kind}`)
  return structuredClone(found)
}

export function collectionPath(resource: ResourceFacts, namespace = "default"): string {
  const root = resource.group === "" ? "/api/v1" : `/apis/${apiVersionOf(resource)}`
  return `${root}/${resource.namespaced ? `namespaces/${namespace}/` : ""}${resource.resource}`
}

/** Built-in resources with stored objects: without reviews and bindings, which are only answered. */
export function storedResources(): readonly ResourceFacts[] {
  return builtInResources().filter(({ verbs }) => verbs.includes("watch"))
}
