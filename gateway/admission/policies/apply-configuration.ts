// Merges the Object{…} of a mutating policy into an object: like an apply, without managers. Source:
// k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch/smd.go.

import { checkType, TypeErrors } from "../../../apimachinery/managed-fields/configuration.ts"
import { merge } from "../../../apimachinery/managed-fields/merge.ts"
import { type MergeType, mergeTypeOf, partOf } from "../../../apimachinery/managed-fields/merge-type.ts"
import type { Json, KubeObject } from "../../../apimachinery/object.ts"
import { isObject } from "../../../apimachinery/schema/json-object.ts"
import type { Schema } from "../../../apimachinery/schema/schema.ts"

/** With upstream's messages. */
export class ConfigurationError extends Error {}

export function applyConfiguration(object: KubeObject, configuration: Json, schema: Schema): Json {
  const { apiVersion, kind } = object
  const type = mergeTypeOf(schema)
  const applied = { ...(isObject(configuration) ? configuration : {}), apiVersion: apiVersion ?? "", kind: kind ?? "" }
  const failed = (what: string, error: unknown): never => {
    if (!(error instanceof TypeErrors)) throw error
    throw new ConfigurationError(`error applying patch: ${what}: ${error.message}`)
  }
  try {
    checkType(applied, type)
  } catch (error) {
    failed("failed to convert patch object to typed object", error)
  }
  const atomic = atomics(applied, type, "")
  if (atomic.length > 0) {
    const what = `may not mutate atomic arrays, maps or structs: ${atomic.join(", ")}`
    throw new ConfigurationError(`error applying patch: invalid ApplyConfiguration: ${what}`)
  }
  try {
    // Of a custom resource nothing but the names of its fields has been looked at.
    if (schema.custom === true) checkType(object as unknown as Json, type, "live")
  } catch (error) {
    failed("failed to convert original object to typed object", error)
  }
  try {
    return merge(object as unknown as Json, applied, type) ?? {}
  } catch (error) {
    return failed("failed to merge patch", error)
  }
}

/** Paths of atomic values: a policy that sets a part of one would remove the rest. */
function atomics(value: Json, type: MergeType, path: string): string[] {
  const part = partOf(type, value)
  if (part === "map" && type.map !== undefined && isObject(value)) {
    const { map } = type
    const inner = Object.entries(value).flatMap(([name, field]) => {
      const fieldType = map.field(name)
      return fieldType === undefined ? [] : atomics(field, fieldType, `${path}.${name}`)
    })
    return map.atomic ? [path, ...inner] : inner
  }
  if (part === "list" && type.list !== undefined && Array.isArray(value)) {
    const { items, atomic } = type.list
    const inner = value.flatMap((item, index) => atomics(item, items, `${path}[${index}]`))
    return atomic ? [path, ...inner] : inner
  }
  return []
}
