// Custom resources that admission has patched. Upstream adds defaults to them and looks at nothing else before they are validated, so that
// nulls and fields that are not declared are still there; they are decoded when they are read from the store. Source: Default of
// unstructuredDefaulter, and schemaCoercingDecoder, in k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go.

import { copyJson } from "../../apimachinery/copy.ts"
import type { KubeObject } from "../../apimachinery/object.ts"
import { embeddedFault, keepWellFormedMetadata, repairEmbedded } from "../../apimachinery/schema/decode/custom.ts"
import { decodeObject } from "../../apimachinery/schema/decode/decode.ts"
import { applyDefaults } from "../../apimachinery/schema/defaults.ts"
import { assignOwn, isObject, type JsonObject } from "../../apimachinery/schema/json-object.ts"
import type { Schema } from "../../apimachinery/schema/schema.ts"
import { internalError, unexplained } from "../../apimachinery/status.ts"
import { findUnread, noteStoredOtherwise, noteUnread } from "../registry/generic/storage/unread-fields.ts"

/** Objects that are decoded by {@link decodePatched}, with what was malformed in the metadata of each. */
const undecoded = new WeakMap<object, string | undefined>()

/**
 * Also of an object whose scale has been set, in a field that is not declared. `fault`: what is malformed in its metadata now, whatever was
 * before.
 */
export function notePatched(object: object, fault?: string): void {
  undecoded.set(object, fault)
}

export function isPatched(object: object): boolean {
  return undecoded.has(object)
}

/**
 * Makes the metadata what it will be read as: of a wrong type, fields are dropped, and an update has none of it. Throws InternalError if
 * an object cannot be created with it.
 */
export function readMetadata(object: JsonObject, isNew: boolean): KubeObject {
  const { metadata } = object
  if (metadata === undefined || isObject(metadata)) keepWellFormedMetadata(object)
  else if (isNew) throw internalError("system metadata was not initialized")
  else object["metadata"] = {}
  object["metadata"] ??= {}
  return object as unknown as KubeObject
}

/**
 * Called when the object is valid and admitted: as it will be read. What is malformed is stored upstream, and dropped when it is read; but
 * an object that is stored in another version is converted to that first, which fails.
 */
export function decodePatched(schema: Schema, object: KubeObject, isStoredAsOther: boolean): void {
  if (!undecoded.has(object)) return
  const json = object as unknown as JsonObject
  const fault = isStoredAsOther ? (undecoded.get(object) ?? embeddedFault(schema, copyJson(json))?.message) : undefined
  if (fault !== undefined) throw unexplained(fault)
  undecoded.delete(object)
  assignOwn(json, copyJson(json)) // an update may have kept what is frozen
  const unread = findUnread(json)
  repairEmbedded(schema, json)
  const { unknown } = decodeObject(schema, json, true)
  applyDefaults(schema, json)
  noteUnread(object, unread)
  if (unknown.length > 0) noteStoredOtherwise(object)
}
