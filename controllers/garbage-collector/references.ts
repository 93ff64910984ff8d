// What references to owners name.

import type { OwnerReference } from "../../apimachinery/object.ts"

/** The object a reference names, seen from the dependent's namespace. */
export function coordinates(reference: OwnerReference, namespace: string | undefined): string {
  return `${reference.apiVersion}/${reference.kind}/${namespace ?? ""}/${reference.name}`
}

/** Whether coordinates under which an object was found, whose parts therefore have no slashes, are those of an object of this kind. */
export function isPlaceOf(place: string, ofGroup: string, ofKind: string): boolean {
  const parts = place.split("/")
  const [group, kind] = parts.length === 5 ? [parts[0], parts[2]] : ["", parts[1]]
  return kind === ofKind && group === ofGroup
}
