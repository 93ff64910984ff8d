// The objects that a list or watch selects: by labels, fields, and the range of keys that can contain them.

import {
  type FieldSelector,
  matchesFields,
  parseFieldSelector,
  requiredValue,
} from "../../../../apimachinery/fields.ts"
import { matches, parseSelector, type Selector } from "../../../../apimachinery/labels.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import { setOwn } from "../../../../apimachinery/schema/json-object.ts"
import { badRequest } from "../../../../apimachinery/status.ts"
import { checkNamespaceInKey, storageKey } from "../storage/keys.ts"
import type { ResourceDefinition } from "../../rest.ts"
import type { FieldReader, KubeValue, MayMatch } from "../storage/value.ts"

export interface Selection {
  /** The prefix of the keys, which contains nothing else. */
  prefix: string
  /** The prefix of the list, for a namespace or a whole resource: continue tokens are relative to it. */
  base: string
  /** Set if only this key is selected; it equals the prefix. */
  key: string | undefined
  /** Undefined: everything under the prefix is selected without examining it. */
  matches: ((value: KubeValue) => boolean) | undefined
  /** The same as far as it is known without parsing: false excludes the object. */
  mayMatch: MayMatch | undefined
  /** Whether an object is compared within a microsecond. */
  isBrief: boolean
}

const briefRequirements = 8
const quickValues = 8

/** Numbers are parsed to be compared. */
function isQuick({ operator, values }: Selector["requirements"][number]): boolean {
  return operator !== "gt" && operator !== "lt" && values.length <= quickValues
}

interface Selectors {
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  name?: string
}

/** Throws BadRequest for selectors that cannot be parsed or contain unsupported fields. */
export function selectionOf(definition: ResourceDefinition, selectors: Selectors): Selection {
  const labels = selectors.labelSelector ? parseSelector(selectors.labelSelector) : undefined
  const given = selectors.fieldSelector ? fieldSelectorOf(definition, selectors.fieldSelector) : undefined
  if (given !== undefined) checkSupported(definition, given)
  const fields = selectors.name === undefined ? given : namedBy(selectors.name, given)
  const where = placeOf(definition, selectors.namespace ?? "", fields)
  const looksAt = (labels?.requirements.length ?? 0) + (fields?.requirements.length ?? 0)
  if (looksAt === 0) return { ...where, isBrief: true, matches: undefined, mayMatch: undefined }
  const isBrief = looksAt <= briefRequirements && labels?.requirements.every(isQuick) !== false
  return { ...where, isBrief, ...predicates(fieldReaderOf(definition), labels, fields) }
}

/** Source: k8s.io/apiserver/pkg/endpoints/handlers/get.go (listOpts). */
function namedBy(name: string, given: FieldSelector | undefined): FieldSelector {
  if (given === undefined || given.requirements.length === 0)
    return { requirements: [{ field: "metadata.name", equal: true, value: name }] }
  if (requiredValue(given, "metadata.name") === name) return given
  throw badRequest("fieldSelector metadata.name doesn't match requested name")
}

/** With the present names of fields that had others. */
function fieldSelectorOf({ strategy: { formerFields } }: ResourceDefinition, text: string): FieldSelector {
  const selector = parseFieldSelector(text)
  if (formerFields === undefined) return selector
  const requirements = selector.requirements.map((one) => ({ ...one, field: formerFields[one.field] ?? one.field }))
  return { requirements }
}

/** metadata.name and metadata.namespace narrow the range; the predicate still checks them. */
function placeOf(
  definition: ResourceDefinition,
  asked: string,
  fields: FieldSelector | undefined,
): Pick<Selection, "prefix" | "base" | "key"> {
  const { namespaced, storagePrefix } = definition
  const name = fields && requiredValue(fields, "metadata.name")
  if (namespaced) checkNamespaceInKey(definition, asked, name)
  const namespace = namespaced ? asked || (fields && requiredValue(fields, "metadata.namespace")) || "" : ""
  const base = namespace === "" ? storagePrefix : `${storagePrefix}${namespace}/`
  if (name && (!namespaced || namespace !== "")) {
    const key = storageKey(storagePrefix, namespace, name)
    return { prefix: key, base, key }
  }
  return { prefix: base, base, key: undefined }
}

function predicates(
  read: FieldReader,
  labels: Selector | undefined,
  fields: FieldSelector | undefined,
): Pick<Selection, "matches" | "mayMatch"> {
  return {
    matches: (value) =>
      (labels === undefined || matches(labels, value.labels())) &&
      (fields === undefined || matchesFields(fields, value.fields(read))),
    mayMatch: (text, isShown) => {
      if (labels !== undefined && !matches(labels, text.labels())) return false
      const known = fields && isShown ? text.knownFields(read) : undefined
      return fields === undefined || known === undefined || matchesFields(fields, known)
    },
  }
}

function checkSupported(definition: ResourceDefinition, { requirements }: FieldSelector): void {
  const { namespaced, selectableFields = [], customResource } = definition
  // Cluster-scoped kinds do not support it, unless they have no selectable fields of their own.
  const knowsNamespace = namespaced || (selectableFields.length === 0 && customResource === undefined)
  for (const { field } of requirements) {
    if (field === "metadata.name" || selectableFields.includes(field)) continue
    if (field === "metadata.namespace" && knowsNamespace) continue
    throw badRequest(notSelectable(definition, field))
  }
}

/** Kinds with selectable fields have their own error messages for others. */
function notSelectable(
  { group, version, kind, selectableFields = [], customResource }: ResourceDefinition,
  field: string,
) {
  if (customResource === undefined && selectableFields.length === 0)
    return `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`
  if (group === "batch") return `field label ${JSON.stringify(field)} not supported for ${kind}`
  if (group === "resource.k8s.io") return `field label not supported for ${group}/${version}, Kind=${kind}: ${field}`
  return `field label not supported: ${field}`
}

const readers = new WeakMap<ResourceDefinition, FieldReader>()
let lastReader = 0

function fieldReaderOf(definition: ResourceDefinition): FieldReader {
  let reader = readers.get(definition)
  if (reader === undefined) {
    reader = { id: ++lastReader, read: (object) => fieldsIn(definition, object) }
    readers.set(definition, reader)
  }
  return reader
}

function fieldsIn(
  { strategy, namespaced, selectableFields = [] }: ResourceDefinition,
  object: KubeObject,
): Record<string, string> {
  const values: Record<string, string> = {}
  for (const field of selectableFields) setOwn(values, field, valueAt(object, field.split(".")))
  values["metadata.name"] = object.metadata.name ?? ""
  if (namespaced) values["metadata.namespace"] = object.metadata.namespace ?? ""
  return { ...values, ...strategy.selectableFields?.(object) }
}

function valueAt(object: unknown, path: readonly string[]): string {
  let value = object
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return ""
    value = (value as Record<string, unknown>)[step]
  }
  return typeof value === "string"
    ? value
    : typeof value === "number" || typeof value === "bigint" || typeof value === "boolean"
      ? `${value}`
      : ""
}
