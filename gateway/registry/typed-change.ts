// Whether a change of a custom resource can be looked into for who manages what: both states have to be of their type.

import { equalJson } from "../../apimachinery/equality.ts"
import { checkType, TypeErrors } from "../../apimachinery/managed-fields/configuration.ts"
import type { Change } from "../../apimachinery/managed-fields/ownership.ts"
import { type Json, printGroupVersion } from "../../apimachinery/object.ts"
import type { ManagedKind } from "./managed-kind.ts"

/**
 * What a write of a custom resource cannot change is not validated, but nobody manages anything where it is not of its type.
 * Only that is looked at which differs from what is there; the rest was. Source: UpdateNoErrors in
 * k8s.io/apimachinery/pkg/util/managedfields/internal/fieldmanager.go.
 */
export function isTyped(of: ManagedKind, { before, after, type }: Change): boolean {
  if (of.schema.custom !== true || of.reset(printGroupVersion(of)) === undefined) return true
  const [given, live] = [after, before] as Record<string, Json>[]
  const isReset = (name: string): boolean => (name === "status") !== (of.subresource === "status")
  const isNew = (name: string): boolean => isReset(name) && !equalJson(given?.[name], live?.[name])
  if (!Object.keys(given ?? {}).some(isNew)) return true
  try {
    checkType(after, type, "live")
    return true
  } catch (error) {
    if (error instanceof TypeErrors) return false
    throw error
  }
}
