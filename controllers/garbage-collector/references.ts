// What references to owners name.

import { parseGroupVersion, type OwnerReference } from "../../apimachinery/object.ts"

/** The object a reference names, seen from the dependent's namespace. */
export function coordinates(reference: OwnerReference, namespace: string | undefined): string {
  return `${reference.apiVersion}/${reference.kind}/${namespace ?? ""}/${reference.name}`
}

export function isOfKind({ apiVersion, kind }: OwnerReference, ofGroup: string, ofKind: string): boolean {
  return kind === ofKind && parseGroupVersion(apiVersion).group === ofGroup
}
