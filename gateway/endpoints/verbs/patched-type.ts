// The kind and apiVersion that a patch gives a custom resource, which it may not change or remove. Source: patch.go in
// k8s.io/apiserver/pkg/endpoints/handlers, and validator.go in k8s.io/apiextensions-apiserver/pkg/registry/customresource.

import { type FieldError, FieldPath, invalidValue } from "../../../apimachinery/field-errors.ts"
import { type Json, type KubeObject, parseGroupVersion, printGroupVersion } from "../../../apimachinery/object.ts"
import { typeFault } from "../../../apimachinery/schema/json/parse.ts"
import { isObject, type JsonObject, sortedKeys } from "../../../apimachinery/schema/json-object.ts"
import { internalError, invalid, type StatusError } from "../../../apimachinery/status.ts"
import type { Expected } from "../expected.ts"

export interface PatchedResource {
  /** Not decoded yet. */
  object: JsonObject
  current: KubeObject
  name: string
  /** Of a status, only the status is taken. */
  isStatus: boolean
}

/** Returns the object with its own type. `refuse` makes the error for a value that is no object. */
export function withOwnType(
  { object, current, name, isStatus }: PatchedResource,
  expected: Expected,
  refuse: (text: string, detail: string) => StatusError,
): JsonObject {
  // Reported with the other faults of the text.
  if (typeFault(object) !== undefined) return object
  const { kind = null, apiVersion } = object as { kind?: string | null; apiVersion?: string | null }
  const isUntyped = kind === null || kind === ""
  if (isUntyped || apiVersion === null) {
    const text = JSON.stringify(sortedKeys(withManagers(object, current)))
    const missing = `Object 'Kind' is missing in '${text}'`
    throw refuse(text, isUntyped ? missing : ".apiVersion accessor error: <nil> is of the type <nil>, expected string")
  }
  const { group, version } = parseGroupVersion(apiVersion ?? "")
  if (apiVersion === undefined || version === "")
    throw internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'")
  const own = { apiVersion: printGroupVersion(expected), kind: expected.kind }
  if (isStatus) return { ...object, ...own }
  const errors: FieldError[] = []
  if (kind !== own.kind) errors.push(invalidValue(FieldPath.root("kind"), kind, `must be ${own.kind}`))
  if (apiVersion !== own.apiVersion)
    errors.push(invalidValue(FieldPath.root("apiVersion"), apiVersion, `must be ${own.apiVersion}`))
  if (errors.length > 0) throw invalid({ group, kind }, name, errors)
  return object
}

/** The patch was applied without the managers that it does not mention. */
function withManagers(object: JsonObject, { metadata: { managedFields } }: KubeObject): Json {
  const { metadata = null } = object
  if (managedFields === undefined || !isObject(metadata)) return object
  return { ...object, metadata: { managedFields: managedFields as unknown as Json, ...metadata } }
}
