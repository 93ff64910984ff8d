// Whether managed fields can be computed for a change of a custom resource: both states must conform to their type.

import { equalJson } from "../../../../apimachinery/equality.ts"
import { checkType, TypeErrors } from "../../../../apimachinery/managed-fields/configuration.ts"
import type { MergeType } from "../../../../apimachinery/managed-fields/merge-type.ts"
import type { Change } from "../../../../apimachinery/managed-fields/ownership.ts"
import { type Json, type KubeObject, printGroupVersion } from "../../../../apimachinery/object.ts"
import type { Schema } from "../../../../apimachinery/schema/schema.ts"
import type { ManagedKind } from "./managed-kind.ts"

/**
 * Fields that a write of a custom resource cannot change are not validated, but if they do not conform to their type, no managers
 * are recorded, as if the current object does not. Only fields that differ from that are checked, and the current object if it may not
 * be of its type (`isUnchecked`). `isSeen`: before the other fields are validated, admission sees whether there are managers. Sets of
 * objects are valid, but of no type as soon as they have items, which nothing tells apart; also in atomic objects. Source:
 * UpdateNoErrors in k8s.io/apimachinery/pkg/util/managedfields/internal/fieldmanager.go.
 */
export function isTyped(
  of: ManagedKind,
  { before, after, type }: Change,
  isUnchecked: boolean,
  isSeen: boolean,
): boolean {
  if (of.schema.custom !== true) return true
  if (isUnchecked && !conforms(before, type)) return false
  if (isSeen || hasSetsOfObjects(of.schema)) return conforms(after, type)
  if (of.reset(printGroupVersion(of)) === undefined) return true
  const [given, live] = [after, before] as Record<string, Json>[]
  const isReset = (name: string): boolean => (name === "status") !== (of.subresource === "status")
  const isNew = (name: string): boolean => isReset(name) && !equalJson(given?.[name], live?.[name])
  return !Object.keys(given ?? {}).some(isNew) || conforms(after, type)
}

const known = new WeakMap<Schema, boolean>()

/** Also sets of lists, or of anything. */
function hasSetsOfObjects(schema: Schema): boolean {
  let answer = known.get(schema)
  if (answer === undefined) {
    const { listType, items, more, fields = {} } = schema
    const inner = [items, more === "none" ? undefined : more, ...Object.values(fields).map((field) => field.schema)]
    answer =
      (listType === "set" && items !== undefined && !scalars.has(items.type)) ||
      inner.some((one) => one && hasSetsOfObjects(one))
    known.set(schema, answer)
  }
  return answer
}

const scalars: ReadonlySet<Schema["type"]> = new Set(["boolean", "integer", "intOrString", "number", "string"])

function conforms(object: Json, type: MergeType): boolean {
  try {
    checkType(object, type, "live")
    return true
  } catch (error) {
    if (error instanceof TypeErrors) return false
    throw error
  }
}

/** The status of a custom resource may come in an object of another kind, whose fields cannot have managers. */
export function isOfKind(of: ManagedKind, { apiVersion, kind }: KubeObject): boolean {
  return of.schema.custom !== true || (kind === of.kind && of.isKnown(apiVersion))
}
