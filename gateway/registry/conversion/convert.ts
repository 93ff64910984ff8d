// Objects of a kind in another of its versions, by way of the stored version.

import { type Json, type KubeObject, printGroupVersion } from "../../../apimachinery/object.ts"
import { applyDefaults } from "../../../apimachinery/schema/defaults.ts"
import type { ResourceDefinition } from "../rest.ts"

/** Returns a new object if the versions differ, otherwise the same one. */
export async function convertObject(
  object: KubeObject,
  from: ResourceDefinition,
  to: ResourceDefinition,
): Promise<KubeObject> {
  if (from === to || object.kind !== from.kind) return object
  const stored = from.conversion
    ? await from.conversion.toStored(object)
    : { ...object, apiVersion: from.storageVersion }
  if (to.conversion === undefined) return { ...stored, kind: to.kind, apiVersion: printGroupVersion(to) }
  const [converted] = await to.conversion.fromStored([stored])
  if (converted === undefined) throw new Error(`conversion to ${printGroupVersion(to)} ${to.kind} answered nothing`)
  const copy = structuredClone(converted)
  applyDefaults(to.schema, copy as unknown as Json)
  return copy
}
