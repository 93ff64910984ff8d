// Validates the metadata of templates from which the server creates objects: only labels and annotations are allowed. Source:
// k8s.io/kubernetes/pkg/apis/core/validation ValidateTemplateObjectMeta.

import { type FieldError, type FieldPath, forbiddenField } from "../../../apimachinery/field-errors.ts"
import { validateAnnotations, validateLabels } from "../../../apimachinery/object-meta.ts"
import type { ObjectMeta } from "../../../apimachinery/object.ts"
import { isGivenEmpty } from "../../../apimachinery/schema/decode/given.ts"

/** In the order of the errors. */
const serversFields = [
  "name",
  "generateName",
  "namespace",
  "selfLink",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "ownerReferences",
  "finalizers",
  "managedFields",
] as const satisfies readonly (keyof ObjectMeta)[]

export function validateTemplateMetadata(path: FieldPath, meta: ObjectMeta = {}): FieldError[] {
  return [
    ...validateAnnotations(meta.annotations, path.child("annotations")),
    ...validateLabels(meta.labels, path.child("labels")),
    ...serversFields
      .filter((field) => isSet(meta[field]) || isGivenEmpty(meta, field) || isNoTime(meta, field))
      .map((field) => forbiddenField(path.child(field === "uid" ? "uID" : field), "cannot be set")),
  ]
}

function isSet(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && value !== "" && value !== 0
}

/** This number is a pointer upstream, so zero is a value. */
function isNoTime(meta: ObjectMeta, field: keyof ObjectMeta): boolean {
  return field === "deletionGracePeriodSeconds" && meta[field] === 0
}
