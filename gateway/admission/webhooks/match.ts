// Determines whether a webhook is called for a write, and with which version: rules, selectors, and with matchPolicy Equivalent the
// other served versions of the object. Source: k8s.io/apiserver/pkg/admission/plugin/webhook/{generic,predicates}.

import { matches } from "../../../apimachinery/labels.ts"
import type { GroupVersionResource, Json, KubeObject, Namespace } from "../../../apimachinery/object.ts"
import { isObject } from "../../../apimachinery/schema/json-object.ts"
import { notFound } from "../../../apimachinery/status.ts"
import { namespaces } from "../../../client/resources.ts"
import type { RequestContext } from "../../request/context.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import type { AdmissionAttributes } from "../chain.ts"
import { find } from "../plugins/lookup.ts"
import type { Hook, WebhookRule } from "./configuration.ts"
import { isCustom } from "./versions.ts"

const exempt: ReadonlySet<string> = new Set([
  "validatingwebhookconfigurations",
  "mutatingwebhookconfigurations",
  "validatingadmissionpolicies",
  "validatingadmissionpolicybindings",
  "mutatingadmissionpolicies",
  "mutatingadmissionpolicybindings",
])

/** Webhooks are not called for configurations that could disable them; otherwise a broken one could never be removed. */
export function isExempt({ resource }: AdmissionAttributes): boolean {
  return resource.group === "admissionregistration.k8s.io" && exempt.has(resource.resource)
}

/**
 * The version of the resource that the webhook receives, or undefined if it must not be called. `object`: as the webhooks before it have
 * made it.
 */
export async function matchHook(
  ctx: RequestContext,
  hook: Hook,
  attributes: AdmissionAttributes,
  object = attributes.object,
): Promise<ResourceDefinition | undefined> {
  const definition = definitionFor(ctx, hook, attributes)
  if (definition === undefined || !matchesObject(hook, object, attributes)) return undefined
  return (await matchesNamespace(ctx, hook, attributes, object)) ? definition : undefined
}

function definitionFor(
  ctx: RequestContext,
  { webhook }: Hook,
  attributes: AdmissionAttributes,
): ResourceDefinition | undefined {
  const { rules = [], matchPolicy } = webhook
  const { definition } = attributes
  if (rules.some((rule) => matchesRule(rule, attributes, attributes.resource))) return definition
  if (matchPolicy !== "Equivalent") return undefined
  const equivalents = equivalentsOf(ctx.controlPlane.resources.served(), definition).filter((other) =>
    hasSubresource(other, attributes.subresource),
  )
  for (const rule of rules) {
    const found = equivalents.find((other) => matchesRule(rule, attributes, other)) ?? unservedFor(rule, attributes)
    if (found !== undefined) return found
  }
  return undefined
}

/** The versions of a custom resource that are not served are equivalent as well. */
function unservedFor(rule: WebhookRule, attributes: AdmissionAttributes): ResourceDefinition | undefined {
  const { group, resource, customResource } = attributes.definition
  if (customResource?.unserved === undefined) return undefined
  for (const version of rule.apiVersions ?? []) {
    if (!matchesRule(rule, attributes, { group, version, resource })) continue
    const found = customResource.unserved(version)
    if (found !== undefined && hasSubresource(found, attributes.subresource)) return found
  }
  return undefined
}

type Definitions = readonly ResourceDefinition[]

/** For each set of served definitions: resources with several definitions, by storage prefix. */
const shared = new WeakMap<Definitions, ReadonlyMap<string, Definitions>>()

/** The other served versions of the same objects. */
function equivalentsOf(definitions: Definitions, definition: ResourceDefinition): Definitions {
  let found = shared.get(definitions)
  if (found === undefined) {
    const groups = Map.groupBy(definitions, ({ storagePrefix }) => storagePrefix)
    found = new Map([...groups].filter(([, group]) => group.length > 1))
    shared.set(definitions, found)
  }
  return found.get(definition.storagePrefix)?.filter((other) => other !== definition) ?? []
}

const hasSubresource = ({ subresources }: ResourceDefinition, subresource: string): boolean =>
  subresource === "" || subresources.some(({ name }) => name === subresource)

function matchesRule(
  { operations = [], apiGroups = [], apiVersions = [], resources = [], scope = "*" }: WebhookRule,
  attributes: Pick<AdmissionAttributes, "operation" | "namespace" | "subresource">,
  resource: GroupVersionResource,
): boolean {
  const inNamespace = attributes.namespace !== "" && !isNamespaces(resource)
  return (
    (scope === "*" || (scope === "Namespaced") === inNamespace) &&
    has(operations, attributes.operation) &&
    has(apiGroups, resource.group) &&
    has(apiVersions, resource.version) &&
    resources.some((pattern) => {
      const [wanted = "", subresource = ""] = pattern.split("/", 2)
      return (
        (wanted === "*" || wanted === resource.resource) &&
        (subresource === "*" || subresource === attributes.subresource)
      )
    })
  )
}

const has = (list: readonly string[], value: string): boolean => list.includes("*") || list.includes(value)

const isNamespaces = ({ group, resource }: GroupVersionResource): boolean => group === "" && resource === "namespaces"

/** It is sufficient that one state of the object matches, so that changing labels does not evade the webhook. */
function matchesObject(
  { objectSelector }: Hook,
  object: KubeObject | undefined,
  attributes: AdmissionAttributes,
): boolean {
  if (objectSelector.requirements.length === 0) return true
  const selects = (candidate: KubeObject | undefined): boolean => {
    if (candidate === undefined) return false
    const labels = isCustom(attributes)
      ? readableLabels(candidate)
      : candidate.metadata && (candidate.metadata.labels ?? {})
    return labels !== undefined && matches(objectSelector, labels)
  }
  return selects(object) || selects(attributes.current)
}

/** A webhook may have made them of any type: a null is an empty text, and with anything else there are none. */
function readableLabels(object: KubeObject): Readonly<Record<string, string>> {
  const metadata = (object.metadata as Json | undefined) ?? null
  const labels = isObject(metadata) ? (metadata["labels"] ?? null) : null
  if (!isObject(labels)) return {}
  const texts = Object.entries(labels).map(([key, value]) => [key, value ?? ""])
  if (texts.some(([, text]) => typeof text !== "string")) return {}
  return Object.fromEntries(texts) as Readonly<Record<string, string>>
}

/** Cluster-scoped objects match every selector. */
async function matchesNamespace(
  ctx: RequestContext,
  { namespaceSelector }: Hook,
  attributes: AdmissionAttributes,
  object: KubeObject | undefined,
): Promise<boolean> {
  const namespace = namespaceOf(attributes)
  if (namespaceSelector.requirements.length === 0) return true
  if (namespace === "" && !isNamespaces(attributes.resource)) return true
  return matches(namespaceSelector, (await labelsOf(ctx, namespace, attributes, object)) ?? {})
}

/** The namespace of a namespace is itself, as named by the request. */
export function namespaceOf({ namespace, name, hasGeneratedName, resource }: AdmissionAttributes): string {
  if (!isNamespaces(resource)) return namespace
  return hasGeneratedName ? "" : name
}

async function labelsOf(
  ctx: RequestContext,
  namespace: string,
  { resource, subresource, operation }: AdmissionAttributes,
  object: KubeObject | undefined,
) {
  if (isNamespaces(resource) && subresource === "" && (operation === "CREATE" || operation === "UPDATE")) {
    return object?.metadata.labels
  }
  const found = await find<Namespace>(ctx, namespaces, "", namespace)
  if (found === undefined) throw notFound({ group: "", resource: "namespaces" }, namespace)
  return found.metadata.labels
}
