// What an applied custom resource has and nobody reads: nulls that its schema does not permit, and empty metadata. Upstream decodes what
// is applied only when it reads it from the store, so that storing the object without them is a change, and so is storing it with them:
// it compares with what it reads. Only that there are some is stored here. Other objects have been decoded before. Source:
// schemaCoercingDecoder in k8s.io/apiextensions-apiserver/pkg/apiserver, GuaranteedUpdate in k8s.io/apiserver/pkg/storage/etcd3/store.go.

import type { Json } from "../../../../apimachinery/object.ts"
import { isEmptyObject, isObject, type JsonObject } from "../../../../apimachinery/schema/json-object.ts"

/** Where an object had null, or something empty in metadata. */
export type Unread = readonly (string | number)[]

const noted = new WeakMap<object, readonly Unread[]>()

/** Before the object is decoded, which drops some of them. */
export function findUnread(object: Json): Unread[] {
  const found: Unread[] = []
  collect(object, [], false, found)
  return found
}

function collect(value: Json, path: (string | number)[], isMetadata: boolean, found: Unread[]): void {
  if (typeof value !== "object" || value === null) return
  for (const [key, item] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    // The server's own.
    if (key === "managedFields" && path.length === 1) continue
    path.push(key)
    if (item === null || (isMetadata && isEmpty(item))) found.push([...path])
    else collect(item, path, isMetadata || key === "metadata", found)
    path.pop()
  }
}

function isEmpty(value: Json): boolean {
  return Array.isArray(value) ? value.length === 0 : isObject(value) && isEmptyObject(value)
}

/** `found` in what the object was decoded from. */
export function noteUnread(object: object, found: readonly Unread[]): void {
  if (found.length > 0) noted.set(object, found)
}

/** The fields of the object in or below which there were such values, and are no more. */
export function unreadFields(object: object): string[] {
  const found = noted.get(object)?.filter((path) => isDropped(object as JsonObject, path)) ?? []
  return found.map(([field]) => String(field))
}

export function hasUnread(object: object): boolean {
  return unreadFields(object).length > 0
}

/** Metadata that is null is decoded as an empty one. */
function isDropped(object: JsonObject, path: Unread): boolean {
  let holder: Json = object
  for (const step of path) {
    if (typeof holder !== "object" || holder === null) return false
    if (!Object.hasOwn(holder, step)) return step === path.at(-1) && !Array.isArray(holder)
    holder = (holder as JsonObject)[step] as Json
  }
  return path.length > 1 && path.at(-1) === "metadata" && isObject(holder) && isEmptyObject(holder)
}
