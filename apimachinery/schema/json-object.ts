// JSON objects with untrusted keys: distinguishes them from lists and null, and accesses fields without touching the prototype.

import type { Json } from "../object.ts"
import { compareText } from "../go/text-order.ts"

export type JsonObject = { [key: string]: Json }

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** In constant time, without creating a list of keys. */
export function isEmptyObject(object: object): boolean {
  for (const _ in object) return false
  return true
}

/** Without missing values. */
export function present(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined))
}

/** Assignment to "__proto__" would change the prototype. */
export function setOwn<T>(target: Record<string, T>, key: string, value: T): void {
  if (key !== "__proto__") target[key] = value
  else Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
}

/** As Object.assign(), which would change the prototype. */
export function assignOwn(target: Record<string, unknown>, source: Readonly<Record<string, unknown>>): void {
  for (const key of Object.keys(source)) setOwn(target, key, source[key])
}

/** What the object has in the field becomes what `current` has, if anything. */
export function keepField<T extends object>(object: T, current: T, field: string & keyof T): void {
  const value = ownValue(current as Readonly<Record<string, unknown>>, field)
  if (value === undefined) delete object[field]
  else setOwn(object as Record<string, unknown>, field, value)
}

/** The object's own value, not an inherited one. */
export function ownValue<T>(object: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined
}

/** In the order in which Go prints maps. */
export function sortedEntries(object: JsonObject): [string, Json][] {
  return Object.entries(object).sort(([a], [b]) => compareText(a, b))
}

/** Returns a copy whose objects have sorted keys. */
export function sortedKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortedKeys)
  if (!isObject(value)) return value
  return Object.fromEntries(sortedEntries(value).map(([name, item]) => [name, sortedKeys(item)]))
}
