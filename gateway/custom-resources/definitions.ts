// Compiles a CustomResourceDefinition: one ResourceDefinition for each served version. They differ in apiVersion only, unless a
// webhook converts between them.

import { type CustomResourceDefinition, type Json, printGroupVersion } from "../../apimachinery/object.ts"
import { lacksDefaults } from "../../apimachinery/schema/defaults.ts"
import type { Schema } from "../../apimachinery/schema/schema.ts"
import { compareVersions } from "../../apimachinery/version-order.ts"
import { builtInResources, type SubresourceFacts } from "../../apimachinery/schema/facts.ts"
import { storagePrefixOf } from "../registry/generic/storage/keys.ts"
import { Edition } from "../registry/edition.ts"
import type { ResourceDefinition } from "../registry/rest.ts"
import { type CallConversionWebhook, type WebhookConversion, webhookConversion } from "./conversion/webhook.ts"
import { customColumns } from "./columns.ts"
import { plainFields } from "./fields.ts"
import { agedReader, compileSchema, haveSameTypes, pruneTo, schemaOf } from "./schemas.ts"
import { customScale, type ScalePaths } from "./scale.ts"
import { customStrategy } from "./strategy.ts"
import { type CustomResourceVersion, type Definition, hasItsNames, isEstablished, isTerminating } from "./types.ts"

const verbs = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]
const subresourceVerbs = ["get", "patch", "update"]

const cannotCall: CallConversionWebhook = () => Promise.reject(new Error("webhooks cannot be called from here"))

let builtInGroups: ReadonlySet<string> | undefined

/**
 * Upstream's router gives all paths of a built-in group to the built-in server, so what a definition adds to one cannot be reached. Its
 * objects would be stored among those of built-in resources of the same name.
 */
export function isOfBuiltInGroup({ spec }: Definition): boolean {
  builtInGroups ??= new Set(builtInResources().map(({ group }) => group))
  return builtInGroups.has(spec?.group ?? "")
}

/**
 * Returns an empty list while the definition's names are not accepted. `agedUntil`: the last revision at which objects may have
 * been written under an earlier schema.
 */
export function compileDefinition(
  crd: CustomResourceDefinition,
  call = cannotCall,
  agedUntil: number,
  edition: Edition,
): ResourceDefinition[] {
  const definition = crd as unknown as Definition
  if ((!isEstablished(definition) && !hasItsNames(definition)) || isOfBuiltInGroup(definition)) return []
  const versions = definition.spec?.versions ?? []
  const stored = versions.find((version) => version.storage === true)
  if (stored === undefined) return []
  const storedSchema = schemaOf(stored)
  const compile = (version: CustomResourceVersion): ResourceDefinition =>
    compileVersion({ definition, stored, storedSchema, call, agedUntil, edition, unserved }, version)
  const known = new Map<string, ResourceDefinition>()
  const unserved = (name: string): ResourceDefinition | undefined => {
    const version = versions.find((each) => each.name === name && each.served !== true)
    if (version === undefined) return undefined
    const found = known.get(name) ?? compile(version)
    known.set(name, found)
    return found
  }
  return versions
    .filter((version) => version.served === true)
    .sort((a, b) => compareVersions(a.name, b.name))
    .map(compile)
}

/** The version in which objects are stored, served or not. */
export function compileStored(crd: CustomResourceDefinition, call = cannotCall): ResourceDefinition {
  const definition = crd as unknown as Definition
  const stored = definition.spec?.versions?.find((version) => version.storage === true)
  if (stored === undefined) throw new Error(`no version of ${definition.metadata.name} is stored`)
  const edition = editionOf(crd)
  const storedSchema = schemaOf(stored)
  const common = { definition, stored, storedSchema, call, agedUntil: 0, edition, unserved: () => undefined }
  return compileVersion(common, stored)
}

export function editionOf(crd: CustomResourceDefinition): Edition {
  const { metadata, spec, status } = crd as unknown as Definition
  return new Edition([metadata.uid, spec, status?.acceptedNames], metadata.uid)
}

/** What the versions of a definition have in common. */
interface Common {
  definition: Definition
  stored: CustomResourceVersion
  storedSchema: () => Schema
  call: CallConversionWebhook
  agedUntil: number
  edition: Edition
  unserved: (version: string) => ResourceDefinition | undefined
}

function compileVersion(common: Common, version: CustomResourceVersion): ResourceDefinition {
  const { definition, stored, storedSchema } = common
  const { group = "", scope } = definition.spec ?? {}
  const {
    plural = "",
    singular = "",
    kind = "",
    listKind = "",
    shortNames = [],
    categories = [],
  } = definition.status?.acceptedNames ?? {}
  const schema = version === stored ? storedSchema : schemaOf(version)
  const selectable = selectableOf(version)
  const scale = version.subresources?.scale
  const conversion = conversionOf(definition, version, stored.name, common.call)
  const warning = deprecationOf(definition, version)
  return {
    group,
    version: version.name,
    resource: plural,
    singular,
    kind,
    listKind,
    namespaced: scope === "Namespaced",
    shortNames,
    categories,
    verbs,
    subresources: subresourcesOf(definition, version),
    get schema() {
      return schema()
    },
    strategy: customStrategy({
      schema,
      status: version.subresources?.status !== undefined,
      selectable,
      scale,
      type: { apiVersion: printGroupVersion({ group, version: version.name }), kind },
    }),
    columns: customColumns(version.additionalPrinterColumns),
    storagePrefix: storagePrefixOf(group, plural),
    storageVersion: printGroupVersion({ group, version: stored.name }),
    selectableFields: [...selectable.keys()],
    subresourceHandlers: scale === undefined ? {} : { scale: customScale },
    customResource: {
      ...originOf(common),
      aged: { until: common.agedUntil, read: agedReader(definition, version, schema) },
      isVaried: variedness(definition),
      ...writtenForm(version, common, conversion),
      lacksDefaults: (object) => lacksDefaults(storedSchema(), object as unknown as Json),
      ...(scale === undefined ? {} : { scale: scaleFieldsOf(scale) }),
    },
    ...(conversion === undefined ? {} : { conversion }),
    ...(warning === undefined ? {} : { warning }),
  }
}

type CustomResource = NonNullable<ResourceDefinition["customResource"]>

/** Compared on first use, since most definitions that a control plane knows are not written to. */
function variedness(definition: Definition): () => boolean {
  let known: boolean | undefined
  return () => (known ??= isVaried(definition))
}

function isVaried({ spec }: Definition): boolean {
  const [first, ...others] = (spec?.versions ?? []).map(({ schema = {} }) => schema as Json)
  return spec?.conversion?.strategy === "Webhook" || others.some((other) => !haveSameTypes(other, first))
}

/** What all versions say of their definition. */
function originOf({
  definition,
  edition,
  unserved,
}: Common): Pick<CustomResource, "uid" | "edition" | "undiscoverable" | "terminating" | "unserved"> {
  return {
    uid: definition.metadata.uid ?? "",
    edition,
    ...(isEstablished(definition) ? {} : { undiscoverable: true }),
    ...(isTerminating(definition) ? { terminating: true } : {}),
    unserved,
  }
}

/** How objects of this version become what is stored, if that is more than another apiVersion. */
function writtenForm(
  version: CustomResourceVersion,
  { stored, storedSchema }: Common,
  conversion: WebhookConversion | undefined,
): Pick<CustomResource, "between" | "toStored"> {
  if (conversion !== undefined) return { between: conversion.between }
  return stored.name === version.name ? {} : { toStored: (object) => pruneTo(storedSchema(), object) }
}

function scaleFieldsOf({
  specReplicasPath = "",
  statusReplicasPath = "",
  labelSelectorPath,
}: ScalePaths): NonNullable<CustomResource["scale"]> {
  return { specReplicasPath, statusReplicasPath, ...(labelSelectorPath === undefined ? {} : { labelSelectorPath }) }
}

/** For objects of versions that the definition no longer has: only the webhook knows them. */
const lost: CustomResourceVersion = {
  name: "",
  schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
}

function conversionOf(
  { spec }: Definition,
  { name }: CustomResourceVersion,
  storageVersion: string,
  call: CallConversionWebhook,
): WebhookConversion | undefined {
  const { group = "", conversion, versions = [] } = spec ?? {}
  const { clientConfig, conversionReviewVersions = [] } = conversion?.webhook ?? {}
  if (conversion?.strategy !== "Webhook" || clientConfig === undefined) return undefined
  const compiled = new Map<string, Schema>()
  const schemaOf = (version: string): Schema => {
    const found = compiled.get(version) ?? compileSchema(versions.find((each) => each.name === version) ?? lost)
    compiled.set(version, found)
    return found
  }
  const about = { group, version: name, storageVersion, schemaOf }
  return webhookConversion({ ...about, config: clientConfig, reviewVersions: conversionReviewVersions, call })
}

function deprecationOf({ spec }: Definition, { name, deprecated, deprecationWarning }: CustomResourceVersion) {
  if (deprecated !== true) return undefined
  if (deprecationWarning !== undefined) return deprecationWarning
  const { group = "", names, versions = [] } = spec ?? {}
  const kind = names?.kind ?? ""
  // The most preferred served version that precedes this one and is not deprecated.
  const better = versions
    .filter((other) => other.served === true && other.deprecated !== true && compareVersions(other.name, name) < 0)
    .sort((a, b) => compareVersions(a.name, b.name))[0]
  const use = better === undefined ? "" : `; use ${group}/${better.name} ${kind}`
  return `${group}/${name} ${kind} is deprecated${use}`
}

function subresourcesOf(definition: Definition, version: CustomResourceVersion): SubresourceFacts[] {
  const { group = "" } = definition.spec ?? {}
  const kind = definition.status?.acceptedNames?.kind ?? ""
  const found: SubresourceFacts[] = []
  if (version.subresources?.status !== undefined) {
    found.push({ name: "status", group, version: version.name, kind, verbs: subresourceVerbs })
  }
  if (version.subresources?.scale !== undefined) {
    found.push({ name: "scale", group: "autoscaling", version: "v1", kind: "Scale", verbs: subresourceVerbs })
  }
  return found
}

function selectableOf(version: CustomResourceVersion): Map<string, readonly string[]> {
  return new Map(
    (version.selectableFields ?? [])
      .map(({ jsonPath = "" }) => plainFields(jsonPath))
      .map((names) => [names.join("."), names]),
  )
}
