// An object in another version its resource is served in, by way of the stored one.

import { type Json, type KubeObject, printGroupVersion } from "../../../apimachinery/object.ts"
import { applyDefaults } from "../../../apimachinery/schema/defaults.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"

/** A new object when the versions differ; the same otherwise. */
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
