// Field sets in combination with a type: adds the fields that lead to members, and adapts sets to a type that has changed since they
// were written. Source: sigs.k8s.io/structured-merge-diff/v6 (fieldpath/set.go, typed/reconcile_schema.go).

import { below, type Draft, type FieldSet, hasElement, isEmpty, leaf, place } from "./field-set.ts"
import { deduced, type MapType, type MergeType, untyped } from "./merge-type.ts"
import type { PathElement } from "./path-element.ts"

/** The set together with every named field on the way to a member. */
export function withNamedFields(set: FieldSet, type: MergeType | undefined): FieldSet {
  const result: Draft = {}
  for (const element in set) {
    const child = set[element]
    if (child === undefined || element === ".") continue
    const isField = element.startsWith("f:")
    const named = isField ? type?.map?.field(element.slice(2)) : undefined
    const next = isField ? (named ?? type?.map?.values) : element.startsWith("k:") ? type?.list?.items : undefined
    const kept = place(hasElement(set, element) || named !== undefined, withNamedFields(below(set, element), next))
    if (kept !== undefined) result[element] = kept
  }
  return result
}

/** If a value has become atomic, the manager of a part becomes the manager of the whole. Returns the same set if nothing changes. */
export function reconciled(set: FieldSet, type: MergeType): FieldSet {
  let result: Draft | undefined
  for (const element in set) {
    const child = set[element]
    if (child === undefined || element === ".") continue
    const next = reconciledPlace(child, typeAt(type, element))
    if (next === child) continue
    result ??= { ...set }
    result[element] = next
  }
  return result ?? set
}

function typeAt(type: MergeType, element: PathElement): MergeType | undefined {
  if (element.startsWith("f:")) return type.map?.field(element.slice(2)) ?? type.map?.values
  return type.list?.items
}

function reconciledPlace(child: FieldSet, type: MergeType | undefined): FieldSet {
  if (type === undefined || type === deduced || isEmpty(child)) return child
  const { map, list, scalar } = type
  if (map !== undefined) {
    if (isUntyped(map)) return child
    return map.atomic ? leaf : reconciled(child, type)
  }
  if (scalar !== undefined || list === undefined) return child
  return list.atomic ? leaf : reconciled(child, type)
}

/** Sets of such maps stay as they are, even if they have become atomic. Source: isUntypedDeducedMap. */
function isUntyped({ hasFields, values }: MapType): boolean {
  return !hasFields && values?.scalar === "untyped" && values !== untyped
}
