// JSON objects whose keys are anybody's: told from lists and null, read and written to without touching their prototype.

import type { Json } from "../object.ts"
import { compareText } from "../text-order.ts"

export type JsonObject = { [key: string]: Json }

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** Of any size, without a list of its keys. */
export function isEmptyObject(object: object): boolean {
  for (const _ in object) return false
  return true
}

/** Assignment to "__proto__" would change the prototype. */
export function setOwn<T>(target: Record<string, T>, key: string, value: T): void {
  if (key !== "__proto__") target[key] = value
  else Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
}

/** What it was given by that name, not what every object inherits. */
export function ownValue<T>(object: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined
}

/** In the order in which Go prints maps. */
export function sortedEntries(object: JsonObject): [string, Json][] {
  return Object.entries(object).sort(([a], [b]) => compareText(a, b))
}

/** With the keys of all objects in that order. */
export function sortedKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortedKeys)
  if (!isObject(value)) return value
  return Object.fromEntries(sortedEntries(value).map(([name, item]) => [name, sortedKeys(item)]))
}
