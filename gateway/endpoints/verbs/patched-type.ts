// The kind and apiVersion that a patch gives a custom resource, which it may not remove. Source: patch.go in
// k8s.io/apiserver/pkg/endpoints/handlers.

import { type Json, type KubeObject, parseGroupVersion } from "../../../apimachinery/object.ts"
import { typeFault } from "../../../apimachinery/schema/json/parse.ts"
import { isObject, type JsonObject, sortedKeys } from "../../../apimachinery/schema/json-object.ts"
import { internalError, type StatusError } from "../../../apimachinery/status.ts"
import { noText } from "../body-kind.ts"

/** `object` is not decoded yet. `refuse` makes the error for a value that is no object. */
export function checkPatchedType(
  object: JsonObject,
  current: KubeObject,
  refuse: (text: string, detail: string) => StatusError,
): void {
  if (typeFault(object) !== undefined) return // reported with the other faults of the text
  const { kind = null, apiVersion } = object as { kind?: string | null; apiVersion?: string | null }
  const isUntyped = kind === null || kind === ""
  if (isUntyped || apiVersion === null) {
    const text = JSON.stringify(sortedKeys(withManagers(object, current)))
    throw refuse(text, isUntyped ? `Object 'Kind' is missing in '${text}'` : noText)
  }
  const { version } = parseGroupVersion(apiVersion ?? "")
  if (apiVersion === undefined || version === "")
    throw internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'")
}

/** The patch was applied without the managers that it does not mention. */
function withManagers(object: JsonObject, { metadata: { managedFields } }: KubeObject): Json {
  const { metadata = null } = object
  if (managedFields === undefined || !isObject(metadata)) return object
  return { ...object, metadata: { managedFields: managedFields as unknown as Json, ...metadata } }
}
