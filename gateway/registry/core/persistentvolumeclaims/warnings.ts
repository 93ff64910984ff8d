// Warnings about valid but probably unintended fields of a claim. Source: k8s.io/kubernetes/pkg/api/persistentvolumeclaim.

import { classAnnotation } from "../../../../apimachinery/core/storage-classes.ts"
import { FieldPath } from "../../../../apimachinery/field-errors.ts"
import type { PersistentVolumeClaim } from "../../../../apimachinery/object.ts"
import { isWholeInt64 } from "../../../../apimachinery/quantity-integers.ts"
import type { ClaimSpec } from "./validate.ts"

export function claimWarnings({ metadata, spec = {} }: PersistentVolumeClaim): string[] {
  const place = FieldPath.root("metadata", "annotations").key(classAnnotation)
  const said = metadata.annotations?.[classAnnotation] === undefined ? [] : [`${String(place)}: ${insteadOfAnnotation}`]
  return [...said, ...claimSpecWarnings(FieldPath.root("spec"), spec)]
}

const insteadOfAnnotation = 'deprecated since v1.8; use "storageClassName" attribute instead'

export function claimSpecWarnings(path: FieldPath, { resources }: ClaimSpec): string[] {
  return (["requests", "limits"] as const).flatMap((kind) =>
    fractionWarning(path.child("resources", kind).key("storage"), resources?.[kind]?.["storage"]),
  )
}

/** For a quantity in bytes. */
export function fractionWarning(place: FieldPath, text: string | undefined): string[] {
  if (text === undefined || isWholeInt64(text)) return []
  return [`${String(place)}: fractional byte value ${JSON.stringify(text)} is invalid, must be an integer`]
}
