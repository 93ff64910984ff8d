// Objects of a kind in another of its versions, by way of the stored version.

import { type Json, type KubeObject, printGroupVersion } from "../../../apimachinery/object.ts"
import { applyDefaults } from "../../../apimachinery/schema/defaults.ts"
import { keepField } from "../../../apimachinery/schema/json-object.ts"
import type { ResourceDefinition } from "../rest.ts"

/** By an object in another version than the stored one, which may have what the conversion loses: the order of metrics, for one. */
const origins = new WeakMap<KubeObject, KubeObject>()

/**
 * `object`: the stored object in the version of the definition, before a write. Objects of a custom resource are their version's. `stored`
 * is only called where there is another version: it may have to parse a long text once more.
 */
export function noteOrigin(
  { conversion, customResource }: ResourceDefinition,
  object: KubeObject,
  stored: () => KubeObject,
): void {
  if (conversion !== undefined && customResource === undefined) origins.set(object, stored())
}

/** Keeps what a write cannot change as it is stored: the status, and in writes of the status all but that. */
export function keepUnwritten(
  definition: ResourceDefinition,
  stored: KubeObject,
  current: KubeObject,
  subresource: string,
): void {
  const { customResource, subresources } = definition
  if (customResource !== undefined || !subresources.some(({ name }) => name === "status")) return
  if (subresource === "") keepField(stored, current, "status")
  else if (subresource === "status") keepField(stored, current, "spec")
}

/** The same for what is written of it, as admission sees it after the strategy has kept what cannot be changed. */
export async function noteWritten(
  definition: ResourceDefinition,
  object: KubeObject,
  current: KubeObject,
  subresource: string,
): Promise<void> {
  const before = origins.get(current)
  if (before === undefined || definition.conversion === undefined) return
  const stored = await definition.conversion.toStored(object)
  keepUnwritten(definition, stored, before, subresource)
  origins.set(object, stored)
}

/** Returns a new object if the versions differ, otherwise the same one. */
export async function convertObject(
  object: KubeObject,
  from: ResourceDefinition,
  to: ResourceDefinition,
): Promise<KubeObject> {
  if (from === to || object.kind !== from.kind) return object
  // A webhook converts all of the object at once, as upstream.
  const exact = await from.customResource?.between?.(object, printGroupVersion(to))
  if (exact !== undefined) return exact
  const stored =
    origins.get(object) ??
    (from.conversion ? await from.conversion.toStored(object) : { ...object, apiVersion: from.storageVersion })
  if (to.conversion === undefined) return { ...stored, kind: to.kind, apiVersion: printGroupVersion(to) }
  const [converted] = await to.conversion.fromStored([stored])
  if (converted === undefined) throw new Error(`conversion to ${printGroupVersion(to)} ${to.kind} answered nothing`)
  const copy = structuredClone(converted)
  applyDefaults(to.schema, copy as unknown as Json)
  return copy
}
