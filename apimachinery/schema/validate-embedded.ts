// Validates embedded objects of a custom resource (x-kubernetes-embedded-resource): their type and metadata must be valid.
// Source: k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta/validation.go.

import { copyJson } from "../copy.ts"
import { type FieldError, type FieldPath, invalidValue, required } from "../field-errors.ts"
import { validateDNS1035Label, validatePathSegmentName } from "../names.ts"
import type { Json, ObjectMeta } from "../object.ts"
import { validateObjectMeta } from "../object-meta.ts"
import { embeddedFault } from "./decode/custom.ts"
import type { JsonObject } from "./json-object.ts"
import { hasEmbedded, type Schema, schemaOfEntry, schemaOfItems } from "./schema.ts"

/** What admission has patched is not decoded: of any types. */
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
  return [
    ...validateText(path.child("apiVersion"), value["apiVersion"], versionFaults),
    ...validateText(path.child("kind"), value["kind"], kindFaults),
    ...metadataFaults(value, path),
  ]
}

const bare: Schema = { type: "object", embedded: true }

function metadataFaults({ metadata = null }: JsonObject, path: FieldPath): FieldError[] {
  const decoded: JsonObject = { metadata: copyJson(metadata) }
  const fault = embeddedFault(bare, decoded, path)
  if (fault !== undefined) return [fault.fieldError()]
  return validateMetadata(path.child("metadata"), (decoded["metadata"] ?? {}) as ObjectMeta)
}

function validateText(path: FieldPath, text: Json | undefined, faultsOf: (text: string) => string[]): FieldError[] {
  if (text === undefined) return [required(path)]
  if (typeof text !== "string") return [invalidValue(path, text, "must be a string")]
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
