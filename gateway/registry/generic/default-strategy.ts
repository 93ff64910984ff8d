// The default behaviour of all kinds, which strategies may override: which writes change the status, when the generation increases,
// which metadata is valid. The registry calls these functions around the strategy's own hooks.

import { type FieldError, FieldPath, invalidValue } from "../../../apimachinery/field-errors.ts"
import { equalEntries } from "../../../apimachinery/managed-fields/managers.ts"
import { validateDNS1123Subdomain, validatePathSegmentName } from "../../../apimachinery/names.ts"
import {
  type ObjectMetaRules,
  validateObjectMeta,
  validateObjectMetaUpdate,
  validateStandardFinalizers,
} from "../../../apimachinery/object-meta.ts"
import type { Json, KubeObject } from "../../../apimachinery/object.ts"
import { writeZeros } from "../../../apimachinery/schema/decode/decode.ts"
import { hasGivenFractionWithin } from "../../../apimachinery/schema/decode/given.ts"
import { keepField } from "../../../apimachinery/schema/json-object.ts"
import { withTextsOf } from "../../../apimachinery/schema/quantities.ts"
import { atOnce, type Steps } from "../../../apimachinery/steps.ts"
import type { RequestContext } from "../../request/context.ts"
import { copyJson } from "../../../apimachinery/copy.ts"
import { equalJson } from "../../../apimachinery/equality.ts"
import { managersIn, setEntries } from "./managed-fields/field-management.ts"
import { hasGeneration } from "./metadata.ts"
import { keepsMetadata } from "./managed-fields/reset-fields.ts"
import type { ResourceDefinition } from "../rest.ts"

export function prepareForCreate(ctx: RequestContext, definition: ResourceDefinition, object: KubeObject): void {
  const { strategy } = definition
  strategy.dropDisabled?.(object, undefined)
  if (strategy.prepareForCreate) strategy.prepareForCreate(ctx, object)
  else if (hasStatusSubresource(definition)) delete object["status"]
}

export function validateForCreate(
  ctx: RequestContext,
  definition: ResourceDefinition,
  object: KubeObject,
): FieldError[] {
  const { strategy } = definition
  const first = strategy.validateFirst?.(ctx, object, undefined) ?? []
  if (first.length > 0) return first
  const own = strategy.validating ? atOnce(strategy.validating(ctx, object)) : strategy.validate?.(ctx, object)
  return withFaultsOfMetadata(definition, object, own ?? [])
}

/** The same in steps. */
export function* validatingForCreate(
  ctx: RequestContext,
  definition: ResourceDefinition,
  object: KubeObject,
): Steps<FieldError[]> {
  const { strategy } = definition
  if (strategy.validating === undefined) return validateForCreate(ctx, definition, object)
  const first = strategy.validateFirst?.(ctx, object, undefined) ?? []
  if (first.length > 0) return first
  return withFaultsOfMetadata(definition, object, yield* strategy.validating(ctx, object))
}

function withFaultsOfMetadata(definition: ResourceDefinition, object: KubeObject, own: FieldError[]): FieldError[] {
  if (definition.strategy.metadataLast === true && own.length > 0) return own
  const errors = [...validateObjectMeta(object.metadata, metaRules(definition)), ...own]
  if (errors.length > 0) return errors
  // As upstream, all names are checked for path segments if there are no other errors.
  return [...generateNameFaults(object, validatePathSegmentName), ...pathFaults(object)]
}

export function prepareForUpdate(
  ctx: RequestContext,
  definition: ResourceDefinition,
  object: KubeObject,
  current: KubeObject,
  subresource: string,
): void {
  const { strategy } = definition
  const changesDropped = strategy.countsDropped === true && specChanged(definition, object, current)
  // With its status, an object keeps the stored fields, which are not to be changed.
  if (subresource !== "status") strategy.dropDisabled?.(object, current)
  if (current.metadata.generation === undefined) delete object.metadata.generation
  else object.metadata.generation = current.metadata.generation
  if (hasStatusSubresource(definition)) {
    if (subresource === "status") keepAllButStatus(definition, object, current)
    else if (subresource === "") keepField(object, current, "status")
  }
  strategy.prepareForUpdate?.(ctx, object, current, () => asCompared(definition, object, current))
  // The status is not desired state. Binding changes the spec without incrementing the generation, because upstream's bypasses the
  // strategy.
  if (
    subresource !== "status" &&
    subresource !== "binding" &&
    hasGeneration(definition) &&
    (changesDropped || specChanged(definition, object, current))
  ) {
    object.metadata.generation = (current.metadata.generation ?? 0) + 1
  }
}

/** The current object to compare the new one with: amounts that have not changed have the new one's texts. */
export function asCompared(
  { schema, customResource }: ResourceDefinition,
  object: KubeObject,
  current: KubeObject,
): KubeObject {
  return customResource === undefined ? withTextsOf(object, current, schema) : current
}

const finalizersPath = FieldPath.root("metadata", "finalizers")

export function validateForUpdate(
  ctx: RequestContext,
  definition: ResourceDefinition,
  object: KubeObject,
  current: KubeObject,
): FieldError[] {
  // As upstream, which validates nothing of what binds a pod.
  if (ctx.info.subresource === "binding") return []
  const { strategy } = definition
  const first = strategy.validateFirst?.(ctx, object, current) ?? []
  if (first.length > 0) return first
  return [
    ...metadataFaults(ctx, definition, object, current),
    ...(strategy.validateUpdate?.(ctx, object, current) ?? []),
  ]
}

/** The same in steps, for kinds whose updates are validated in steps. */
export function* validatingForUpdate(
  ctx: RequestContext,
  definition: ResourceDefinition,
  object: KubeObject,
  current: KubeObject,
): Steps<FieldError[]> {
  const { strategy } = definition
  if (strategy.validatingUpdate === undefined || ctx.info.subresource === "binding")
    return validateForUpdate(ctx, definition, object, current)
  const first = strategy.validateFirst?.(ctx, object, current) ?? []
  if (first.length > 0) return first
  const errors = metadataFaults(ctx, definition, object, current)
  return [...errors, ...(yield* strategy.validatingUpdate(ctx, object, current))]
}

function metadataFaults(
  ctx: RequestContext,
  definition: ResourceDefinition,
  object: KubeObject,
  current: KubeObject,
): FieldError[] {
  const rules = metaRules(definition, ctx.info.subresource)
  const generic = { ...rules, nameRule: validatePathSegmentName, standardFinalizers: false }
  const meta = [
    // The name was accepted on creation, perhaps under older rules.
    ...validateObjectMeta(object.metadata, generic),
    ...validateObjectMetaUpdate(object.metadata, current.metadata, generic),
  ]
  const { finalizers } = object.metadata
  return [
    // Twice, as upstream, where both the generic and the kind's validation check metadata: clients count the causes.
    ...meta,
    ...meta,
    ...(rules.standardFinalizers === true ? validateStandardFinalizers(finalizers, finalizersPath) : []),
    ...(checksGenerateName.has(resourceOf(definition, ctx.info.subresource))
      ? generateNameFaults(object, rules.nameRule)
      : []),
  ]
}

/** Ignores the resource version, and the times of existing managed fields entries. */
export function isUnchanged(object: KubeObject, current: KubeObject): boolean {
  const {
    metadata: { resourceVersion: _a, managedFields, ...meta },
    ...rest
  } = object
  const {
    metadata: { resourceVersion: _b, managedFields: currentFields, ...currentMeta },
    ...currentRest
  } = current
  const [entries, currentEntries] = [managersIn(object) ?? [], managersIn(current) ?? []]
  return (
    (managedFields === currentFields || equalEntries(entries, currentEntries, "ignore")) &&
    equalJson(meta, currentMeta) &&
    equalJson(rest, currentRest)
  )
}

function hasStatusSubresource({ subresources }: ResourceDefinition): boolean {
  return subresources.some(({ name }) => name === "status")
}

function specChanged(definition: ResourceDefinition, object: KubeObject, stored: KubeObject): boolean {
  const { strategy, schema } = definition
  const current = asCompared(definition, object, stored)
  if (strategy.specChanged) return strategy.specChanged(object, current)
  const { metadata: _m, status: _s, ...spec } = object
  const { metadata: _cm, status: _cs, ...currentSpec } = current
  if (equalJson(spec, currentSpec)) return hasGivenFractionWithin(spec)
  // The stored object contains Go's zero values ("requests": null), which the client's may omit.
  const settled = copyJson(spec)
  if (schema.custom !== true) writeZeros(schema, settled as unknown as Json)
  delete (settled as { metadata?: unknown }).metadata
  delete (settled as { status?: unknown }).status
  return !equalJson(settled, currentSpec) || hasGivenFractionWithin(spec)
}

function keepAllButStatus(definition: ResourceDefinition, object: KubeObject, current: KubeObject): void {
  const resource = `${definition.group}/${definition.resource}`
  const fields = new Set([...Object.keys(object), ...Object.keys(current)])
  for (const field of fields) if (field !== "status" && field !== "metadata") keepField(object, current, field)
  if (resource === "apps/deployments") keepField(object.metadata, current.metadata, "labels")
  if (definition.customResource !== undefined || keepsMetadata.has(resource)) {
    const { resourceVersion, uid, generateName, deletionTimestamp, deletionGracePeriodSeconds } = object.metadata
    const managers = managersIn(object)
    object.metadata = { ...current.metadata }
    setEntries(object, managers)
    if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion
    // Changing generateName after creation has no effect, and most of upstream's kinds do not prevent it.
    if (definition.customResource !== undefined || definition.group === "flowcontrol.apiserver.k8s.io") return
    // What is not kept is refused if it changes. kube-aggregator keeps less.
    if (uid) object.metadata.uid = uid
    if (deletionTimestamp !== undefined && definition.group === "apiregistration.k8s.io")
      object.metadata.deletionTimestamp = deletionTimestamp
    if (generateName === undefined) delete object.metadata.generateName
    else object.metadata.generateName = generateName
    if (deletionGracePeriodSeconds !== undefined)
      object.metadata.deletionGracePeriodSeconds = deletionGracePeriodSeconds
  }
}

function pathFaults({ metadata: { name = "" } }: KubeObject): FieldError[] {
  return validatePathSegmentName(name).map((fault) => invalidValue(FieldPath.root("metadata", "name"), name, fault))
}

function generateNameFaults(
  { metadata: { generateName } }: KubeObject,
  nameRule: ObjectMetaRules["nameRule"],
): FieldError[] {
  if (generateName === undefined || generateName === "") return []
  const path = FieldPath.root("metadata", "generateName")
  return nameRule(generateName, true).map((fault) => invalidValue(path, generateName, fault))
}

const resourceOf = ({ group, resource }: ResourceDefinition, subresource: string): string =>
  `${group}/${resource}${subresource === "" ? "" : `/${subresource}`}`

/** Kinds whose updates are validated like creations; in metadata only an invalid generateName shows the difference. */
const checksGenerateName: ReadonlySet<string> = new Set([
  "/configmaps",
  "/endpoints",
  "/limitranges",
  "/namespaces",
  "/nodes",
  "/persistentvolumeclaims",
  "/persistentvolumes",
  "/pods",
  "/pods/ephemeralcontainers",
  "/pods/resize",
  "/secrets",
  "/serviceaccounts",
  "admissionregistration.k8s.io/mutatingadmissionpolicies",
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings",
  "admissionregistration.k8s.io/mutatingwebhookconfigurations",
  "admissionregistration.k8s.io/validatingadmissionpolicies",
  "admissionregistration.k8s.io/validatingadmissionpolicybindings",
  "admissionregistration.k8s.io/validatingwebhookconfigurations",
  "apps/controllerrevisions",
  "batch/jobs",
  "discovery.k8s.io/endpointslices",
  "flowcontrol.apiserver.k8s.io/flowschemas",
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations",
  "networking.k8s.io/ingressclasses",
  "networking.k8s.io/ingresses",
  "networking.k8s.io/ipaddresses",
  "node.k8s.io/runtimeclasses",
  "resource.k8s.io/resourceclaims",
  "resource.k8s.io/resourceclaimtemplates",
  "storage.k8s.io/csinodes",
  "storage.k8s.io/csistoragecapacities",
  "storage.k8s.io/storageclasses",
  "storage.k8s.io/volumeattachments",
  "storage.k8s.io/volumeattachments/status",
  "storage.k8s.io/volumeattributesclasses",
])

/**
 * Groups and a status that accept any qualified name as a finalizer, as custom resources do: upstream does not apply core's rules
 * to them.
 */
const anyFinalizer: ReadonlySet<string> = new Set([
  "/events",
  "admissionregistration.k8s.io",
  "apiextensions.k8s.io",
  "apiregistration.k8s.io",
  "batch/cronjobs/status",
  "coordination.k8s.io",
  "node.k8s.io",
  "policy",
])

function metaRules(definition: ResourceDefinition, subresource = ""): ObjectMetaRules {
  const { group, namespaced, strategy, customResource } = definition
  const takesAny = anyFinalizer.has(group) || anyFinalizer.has(resourceOf(definition, subresource))
  return {
    namespaced,
    nameRule: (name, isPrefix = false) =>
      strategy.nameRule ? strategy.nameRule(name, isPrefix) : validateDNS1123Subdomain(name, isPrefix),
    standardFinalizers: customResource === undefined && !takesAny,
  }
}
