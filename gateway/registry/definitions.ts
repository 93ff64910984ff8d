// The built-in resources as the gateway serves them: the schema facts, the additions of kinds.ts and columns.ts, and the storage
// prefixes. Created once, shared by all control planes.

import { openAPIV3Paths } from "../../apimachinery/schema/openapi/documents.ts"
import { dictionary } from "../../apimachinery/dictionary.ts"
import { builtInResources, type ResourceFacts, schemaOf } from "../../apimachinery/schema/facts.ts"
import type { Schema } from "../../apimachinery/schema/schema.ts"
import { printGroupVersion } from "../../apimachinery/object.ts"
import { columnsOf } from "./columns.ts"
import { autoscalingV1 } from "./conversion/autoscaling.ts"
import { eventsV1 } from "./conversion/events.ts"
import { kinds } from "./kinds.ts"
import { storagePrefixOf } from "./generic/storage/keys.ts"
import type { Conversion, ResourceDefinition } from "./rest.ts"

interface SharedStorage {
  group: string
  version: string
  resource: string
  conversion: Conversion
}

/** Resources, by group version, whose objects are stored as those of another resource, in its version. */
const shared: Readonly<Record<string, SharedStorage>> = dictionary({
  "events.k8s.io/v1/events": { group: "", version: "v1", resource: "events", conversion: eventsV1 },
  "autoscaling/v1/horizontalpodautoscalers": {
    group: "autoscaling",
    version: "v2",
    resource: "horizontalpodautoscalers",
    conversion: autoscalingV1,
  },
})

/** Kinds whose delete returns the last state. Source: ReturnDeletedObject in k8s.io/kubernetes/pkg/registry. */
const returnsDeleted: ReadonlySet<string> = new Set([
  "/namespaces",
  "/persistentvolumeclaims",
  "/persistentvolumes",
  "/pods",
  "/podtemplates",
  "/resourcequotas",
  "/serviceaccounts",
  "/services",
  "resource.k8s.io/deviceclasses",
  "resource.k8s.io/resourceclaims",
  "resource.k8s.io/resourceclaimtemplates",
  "resource.k8s.io/resourceslices",
  "storage.k8s.io/csidrivers",
  "storage.k8s.io/csinodes",
  "storage.k8s.io/storageclasses",
  "storage.k8s.io/volumeattachments",
  "storage.k8s.io/volumeattributesclasses",
])

/** Field selectors of events in the terms of events.k8s.io, which differ from the stored fields. */
const eventFields = [
  "reason",
  "type",
  "reportingController",
  ...["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"].map((f) => `regarding.${f}`),
]

let made: readonly ResourceDefinition[] | undefined

/** In the order of discovery. */
export function builtInDefinitions(): readonly ResourceDefinition[] {
  made ??= builtInResources().map(definitionOf)
  return made
}

let openAPIPaths: ReadonlySet<string> | undefined

/** Of the OpenAPI v3 documents that are this server's own, whatever aggregated APIs and custom resources add. */
export function builtInOpenAPIPaths(): ReadonlySet<string> {
  openAPIPaths ??= new Set(openAPIV3Paths(builtInDefinitions()))
  return openAPIPaths
}

function definitionOf(facts: ResourceFacts): ResourceDefinition {
  const { group, version, resource } = facts
  const extension = kinds[`${group}/${resource}`]
  const apiVersion = printGroupVersion(facts)
  const elsewhere = shared[`${apiVersion}/${resource}`]
  const stored = elsewhere ?? facts
  let schema: Schema | undefined
  return {
    group,
    version,
    resource,
    singular: facts.singular,
    kind: facts.kind,
    listKind: facts.listKind,
    namespaced: facts.namespaced,
    shortNames: facts.shortNames,
    categories: facts.categories,
    verbs: facts.verbs,
    storageVersionHash: facts.storageVersionHash ?? "",
    subresources: facts.subresources,
    get schema(): Schema {
      // Compiled on first use: most kinds are never used.
      schema ??= schemaOf(facts)
      if (schema === undefined) throw new Error(`the facts have no schema of ${apiVersion} ${facts.kind}`)
      return schema
    },
    strategy: extension?.strategy ?? {},
    columns: columnsOf(group, resource),
    storagePrefix: storagePrefixOf(stored.group, stored.resource),
    storageVersion: printGroupVersion(stored),
    selectableFields: group === "events.k8s.io" ? eventFields : (facts.selectableFields ?? []),
    ...(elsewhere === undefined ? {} : { conversion: elsewhere.conversion }),
    ...(returnsDeleted.has(`${group}/${resource}`) ? { returnsDeletedObject: true } : {}),
    ...(extension?.subresources === undefined ? {} : { subresourceHandlers: extension.subresources }),
    ...(extension?.plainStatus === undefined ? {} : { plainStatus: true }),
    ...(extension?.warning === undefined ? {} : { warning: extension.warning }),
    ...(extension?.rowOrder === undefined ? {} : { rowOrder: extension.rowOrder.bind(extension) }),
    ...(extension?.answer === undefined ? {} : { answer: extension.answer.bind(extension) }),
    ...(extension?.find === undefined ? {} : { find: extension.find.bind(extension) }),
  }
}
