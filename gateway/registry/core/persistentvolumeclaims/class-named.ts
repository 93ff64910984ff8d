// The storage class of a claim that had none. Its name may also be in an annotation, which preceded the field and does not change.
// Source: k8s.io/kubernetes/pkg/apis/core/validation ValidatePersistentVolumeClaimUpdate.

import { classAnnotation } from "../../../../apimachinery/core/storage-classes.ts"
import { type FieldError, FieldPath, invalidValue } from "../../../../apimachinery/field-errors.ts"
import type { PersistentVolumeClaim } from "../../../../apimachinery/object.ts"
import { immutable } from "../../validation/values.ts"

/** `isNamed`: the update may set the class. */
export function validateClassNamed(
  { metadata, spec = {} }: PersistentVolumeClaim,
  current: PersistentVolumeClaim,
): { isNamed: boolean; errors: FieldError[] } {
  const name = spec.storageClassName
  const [annotation, before] = [
    metadata.annotations?.[classAnnotation],
    current.metadata.annotations?.[classAnnotation],
  ]
  const isUnnamed = current.spec?.storageClassName === undefined
  const isNamed = isUnnamed && name !== undefined && (before === undefined || name === before)
  // The field takes over from the annotation, which then may go.
  const isMoved = isNamed && before !== undefined && (annotation === undefined || annotation === before)
  if (isMoved || (annotation ?? "") === (before ?? "")) return { isNamed, errors: [] }
  const at = FieldPath.root("metadata", "annotations", classAnnotation)
  return { isNamed, errors: [invalidValue(at, annotation ?? "", immutable)] }
}
