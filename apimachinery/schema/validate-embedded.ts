// Validates embedded objects of a custom resource (x-kubernetes-embedded-resource): their type and metadata must be valid.
// Source: k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta/validation.go.

import { type FieldError, type FieldPath, invalidValue, required } from "../field-errors.ts"
import { validateDNS1035Label, validatePathSegmentName } from "../names.ts"
import type { Json, ObjectMeta } from "../object.ts"
import { validateObjectMeta } from "../object-meta.ts"
import { isObject, type JsonObject } from "./json-object.ts"
import { hasEmbedded, type Schema, schemaOfEntry, schemaOfItems } from "./schema.ts"

/** To be called after decoding, which ensures that metadata is an object. */
export function validateEmbedded(schema: Schema, value: Json, path: FieldPath): FieldError[] {
  if (typeof value !== "object" || value === null || !hasEmbedded(schema)) return []
  if (Array.isArray(value)) {
    const items = schemaOfItems(schema)
    return items === undefined ? [] : value.flatMap((item, index) => validateEmbedded(items, item, path.index(index)))
  }
  const errors = schema.embedded === true ? validateWhole(value, path) : []
  for (const [name, given] of Object.entries(value)) {
    const inner = schemaOfEntry(schema, name)
    if (inner === undefined || inner === "none") continue
    const isNamed = schema.fields !== undefined && Object.hasOwn(schema.fields, name)
    errors.push(...validateEmbedded(inner, given, isNamed ? path.child(name) : path.key(name)))
  }
  return errors
}

function validateWhole(value: JsonObject, path: FieldPath): FieldError[] {
  const { metadata } = value
  return [
    ...validateText(path.child("apiVersion"), value["apiVersion"], versionFaults),
    ...validateText(path.child("kind"), value["kind"], kindFaults),
    ...(isObject(metadata) ? validateMetadata(path.child("metadata"), metadata as ObjectMeta) : []),
  ]
}

function validateText(path: FieldPath, text: Json | undefined, faultsOf: (text: string) => string[]): FieldError[] {
  if (typeof text !== "string") return [required(path)]
  const faults = text === "" ? ["must not be empty"] : faultsOf(text)
  return faults.map((fault) => invalidValue(path, text, fault))
}

function versionFaults(text: string): string[] {
  return text.split("/").length > 2 ? [`unexpected GroupVersion string: ${text}`] : []
}

function kindFaults(text: string): string[] {
  const faults = validateDNS1035Label(text.toLowerCase())
  return faults.length === 0 ? [] : [`may have mixed case, but should otherwise match: ${faults.join(",")}`]
}

/** Neither name nor namespace is required. */
function validateMetadata(path: FieldPath, metadata: ObjectMeta): FieldError[] {
  const named = metadata.name ? metadata : { ...metadata, name: "fakename" }
  return validateObjectMeta(named, {
    namespaced: Boolean(metadata.namespace),
    nameRule: validatePathSegmentName,
    path,
    standardFinalizers: false,
  })
}
