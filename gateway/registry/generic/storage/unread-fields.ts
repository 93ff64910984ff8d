// What a custom resource has that was applied, or that admission has patched, and nobody reads: nulls that its schema does not permit, and
// empty metadata. Upstream decodes such an object only when it reads it from the store, so that storing the object without them is a
// change, and so is storing it with them: it compares with what it reads. Only that there are some is stored here. Other objects have been
// decoded before. Source: schemaCoercingDecoder in k8s.io/apiextensions-apiserver/pkg/apiserver, GuaranteedUpdate in
// k8s.io/apiserver/pkg/storage/etcd3/store.go.

import type { Json } from "../../../../apimachinery/object.ts"
import { isEmptyObject, isObject, type JsonObject } from "../../../../apimachinery/schema/json-object.ts"

/** Where an object had null, or something empty in metadata: in the field or item of that name. Items of lists themselves remain. */
export interface Unread {
  readonly step: string | number
  /** In it; none: it was such a value itself. */
  readonly below: readonly Unread[]
}

const none: readonly Unread[] = []
const storedOtherwise = new WeakSet<object>()
const noted = new WeakMap<object, readonly Unread[]>()

/** Before the object is decoded, which drops some of them. As large as the object at most, however deep that is. */
export function findUnread(object: Json): Unread[] {
  return collect(object, 0, false)
}

function collect(value: Json, depth: number, isMetadata: boolean): Unread[] {
  if (typeof value !== "object" || value === null) return []
  const isList = Array.isArray(value)
  const found: Unread[] = []
  for (const [step, item] of isList ? value.entries() : Object.entries(value)) {
    // The server's own.
    if (step === "managedFields" && depth === 1) continue
    if (item === null || (isMetadata && isEmpty(item))) {
      if (!isList) found.push({ step, below: none })
      continue
    }
    const below = collect(item, depth + 1, isMetadata || step === "metadata")
    if (below.length > 0) found.push({ step, below })
  }
  return found
}

function isEmpty(value: Json): boolean {
  return Array.isArray(value) ? value.length === 0 : isObject(value) && isEmptyObject(value)
}

/** `found` in what the object was decoded from. */
export function noteUnread(object: object, found: readonly Unread[]): void {
  if (found.length > 0) noted.set(object, [...(noted.get(object) ?? none), ...found])
}

/**
 * Upstream stores the object without a default that it adds when it reads it (`defaultOnRead` of strategies), or with fields that it
 * drops then: storing that is a change, too.
 */
export function noteStoredOtherwise(object: object): void {
  storedOtherwise.add(object)
}

/** The fields of the object in or below which there were such values, and are no more. */
export function unreadFields(object: object): string[] {
  const found = noted.get(object)?.filter((place) => isDropped(object as JsonObject, place, 0)) ?? []
  return found.map(({ step }) => String(step))
}

export function hasUnread(object: object): boolean {
  if (storedOtherwise.has(object)) return true
  return noted.get(object)?.some((place) => isDropped(object as JsonObject, place, 0)) ?? false
}

/** Metadata that is null is decoded as an empty one. */
function isDropped(holder: Json, { step, below }: Unread, depth: number): boolean {
  if (typeof holder !== "object" || holder === null) return false
  if (!Object.hasOwn(holder, step)) return below.length === 0 && !Array.isArray(holder)
  const value = (holder as JsonObject)[step] as Json
  if (below.length > 0) return below.some((place) => isDropped(value, place, depth + 1))
  return depth > 0 && step === "metadata" && isObject(value) && isEmptyObject(value)
}
