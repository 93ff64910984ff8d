// Which objects a list or watch is about: labels, fields, and the part of the store that can hold them.

import { type FieldSelector, matchesFields, parseFieldSelector, requiredValue } from "../../apimachinery/fields.ts"
import { matches, parseSelector, type Selector } from "../../apimachinery/labels.ts"
import type { KubeObject } from "../../apimachinery/object.ts"
import { badRequest } from "../../apimachinery/status.ts"
import { storageKey } from "./keys.ts"
import type { ResourceDefinition } from "./rest.ts"

export interface Selection {
  /** Under this prefix of the store, and nothing else. */
  prefix: string
  /** Set: only this very key, which is the prefix. */
  key: string | undefined
  /** Undefined: all under the prefix are meant, and none needs to be looked into. */
  matches: ((object: KubeObject) => boolean) | undefined
}

interface Selectors {
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
}

/** Throws BadRequest for selectors that cannot be parsed, or name fields the kind cannot be selected by. */
export function selectionOf(definition: ResourceDefinition, selectors: Selectors): Selection {
  const labels = selectors.labelSelector ? parseSelector(selectors.labelSelector) : undefined
  const fields = selectors.fieldSelector ? parseFieldSelector(selectors.fieldSelector) : undefined
  if (fields !== undefined) checkSupported(definition, fields)
  const where = placeOf(definition, selectors.namespace ?? "", fields)
  const looksAt = (labels?.requirements.length ?? 0) + (fields?.requirements.length ?? 0)
  return { ...where, matches: looksAt === 0 ? undefined : predicate(definition, labels, fields) }
}

/** metadata.name and metadata.namespace narrow the range down; the predicate still sees them. */
function placeOf(
  { namespaced, storagePrefix }: ResourceDefinition,
  asked: string,
  fields: FieldSelector | undefined,
): { prefix: string; key: string | undefined } {
  const name = fields && requiredValue(fields, "metadata.name")
  const namespace = namespaced ? asked || (fields && requiredValue(fields, "metadata.namespace")) || "" : ""
  if (name && (!namespaced || namespace !== "")) {
    const key = storageKey(storagePrefix, namespace, name)
    return { prefix: key, key }
  }
  return { prefix: namespace === "" ? storagePrefix : `${storagePrefix}${namespace}/`, key: undefined }
}

function predicate(
  definition: ResourceDefinition,
  labels: Selector | undefined,
  fields: FieldSelector | undefined,
): (object: KubeObject) => boolean {
  const valuesOf = fields && fieldReader(definition, fields)
  return (object) => {
    if (labels && !matches(labels, object.metadata.labels ?? {})) return false
    return !fields || !valuesOf || matchesFields(fields, valuesOf(object))
  }
}

function checkSupported({ selectableFields = [] }: ResourceDefinition, { requirements }: FieldSelector): void {
  for (const { field } of requirements) {
    if (field === "metadata.name" || field === "metadata.namespace" || selectableFields.includes(field)) continue
    throw badRequest(
      selectableFields.length > 0
        ? `field label not supported: ${field}`
        : `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
    )
  }
}

function fieldReader(
  { strategy, namespaced }: ResourceDefinition,
  { requirements }: FieldSelector,
): (object: KubeObject) => Record<string, string> {
  const paths = requirements.map(({ field }) => ({ field, path: field.split(".") }))
  return (object) => {
    const values: Record<string, string> = {}
    for (const { field, path } of paths) values[field] = valueAt(object, path)
    values["metadata.name"] = object.metadata.name ?? ""
    if (namespaced) values["metadata.namespace"] = object.metadata.namespace ?? ""
    return { ...values, ...strategy.selectableFields?.(object) }
  }
}

function valueAt(object: unknown, path: readonly string[]): string {
  let value = object
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return ""
    value = (value as Record<string, unknown>)[step]
  }
  return typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? `${value}` : ""
}
