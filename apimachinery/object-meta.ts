// Validates metadata: name, labels, annotations, owners, finalizers, and immutable fields. Sources:
// k8s.io/apimachinery/pkg/api/validation and pkg/apis/meta/v1/validation.

import { asJson, FieldPath, forbiddenField, invalidValue, required, tooLong, type FieldError } from "./field-errors.ts"
import { validateManagedFields } from "./managed-fields/validate.ts"
import { type GroupVersion, type ObjectMeta, parseGroupVersion } from "./object.ts"
import { type NameRule, validateDNS1123Label, validateLabelValue, validateQualifiedName } from "./names.ts"

/** Total size of keys and values of annotations. */
const maxAnnotationBytes = 256 * 1024

export function validateLabels(labels: Record<string, string> | undefined, path: FieldPath): FieldError[] {
  return Object.entries(labels ?? {}).flatMap(([key, value]) => [
    ...validateQualifiedName(key).map((fault) => invalidValue(path, key, fault)),
    ...validateLabelValue(value).map((fault) => invalidValue(path, value, fault)),
  ])
}

export function validateAnnotations(annotations: Record<string, string> | undefined, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  let bytes = 0
  for (const [key, value] of Object.entries(annotations ?? {})) {
    // Annotation keys may contain upper case for compatibility with old objects.
    errors.push(...validateQualifiedName(key.toLowerCase()).map((fault) => invalidValue(path, key, fault)))
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value)
  }
  if (bytes > maxAnnotationBytes) errors.push(tooLong(path, "", maxAnnotationBytes))
  return errors
}

export interface ObjectMetaRules {
  namespaced: boolean
  nameRule: NameRule
  path?: FieldPath
  /** Built-in kinds accept known finalizers without a domain; custom resources (false) accept any qualified name. */
  standardFinalizers?: boolean
}

export function validateObjectMeta(
  meta: ObjectMeta,
  { namespaced, nameRule, path = FieldPath.root("metadata"), standardFinalizers: known = true }: ObjectMetaRules,
): FieldError[] {
  const errors: FieldError[] = []
  const { name = "", generateName: prefix = "", namespace = "" } = meta
  if (prefix !== "") {
    errors.push(...nameRule(prefix, true).map((fault) => invalidValue(path.child("generateName"), prefix, fault)))
  }
  if (name === "") errors.push(required(path.child("name"), "name or generateName is required"))
  else errors.push(...nameRule(name).map((fault) => invalidValue(path.child("name"), name, fault)))
  if (namespaced) {
    if (namespace === "") errors.push(required(path.child("namespace")))
    else
      errors.push(
        ...validateDNS1123Label(namespace).map((fault) => invalidValue(path.child("namespace"), namespace, fault)),
      )
  } else if (namespace !== "") {
    errors.push(forbiddenField(path.child("namespace"), "not allowed on this type"))
  }
  const { generation = 0 } = meta
  if (generation < 0) {
    errors.push(invalidValue(path.child("generation"), generation, "must be greater than or equal to 0"))
  }
  return [
    ...errors,
    ...validateMutableMeta(meta, path),
    ...validateFinalizers(meta.finalizers, path.child("finalizers")),
    ...validateManagedFields(meta.managedFields ?? [], path.child("managedFields")),
    ...(known ? validateStandardFinalizers(meta.finalizers, path.child("finalizers")) : []),
  ]
}

function validateMutableMeta(meta: ObjectMeta, path: FieldPath): FieldError[] {
  return [
    ...validateLabels(meta.labels, path.child("labels")),
    ...validateAnnotations(meta.annotations, path.child("annotations")),
    ...validateOwnerReferences(meta, path.child("ownerReferences")),
  ]
}

/** A text with two slashes has neither group nor version. */
function groupVersionOf(apiVersion: string): GroupVersion {
  return apiVersion.split("/").length > 2 ? { group: "", version: "" } : parseGroupVersion(apiVersion)
}

function validateOwnerReferences(meta: ObjectMeta, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  let controller: string | undefined
  for (const owner of meta.ownerReferences ?? []) {
    // Upstream reports the path of the list, without an index.
    const { group, version } = groupVersionOf(owner.apiVersion ?? "")
    if (version === "")
      errors.push(invalidValue(path.child("apiVersion"), owner.apiVersion ?? "", "version must not be empty"))
    if (!owner.kind) errors.push(invalidValue(path.child("kind"), owner.kind ?? "", "must not be empty"))
    if (!owner.name) errors.push(invalidValue(path.child("name"), owner.name ?? "", "must not be empty"))
    if (!owner.uid) errors.push(invalidValue(path.child("uid"), owner.uid ?? "", "must not be empty"))
    if (group === "" && version === "v1" && owner.kind === "Event")
      errors.push(invalidValue(path, owner, "/v1, Kind=Event is disallowed from being an owner"))
    if (owner.controller !== true) continue
    const printed = `${owner.kind}/${owner.name}`
    if (controller !== undefined) {
      errors.push(
        invalidValue(
          path,
          meta.ownerReferences,
          `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${printed}`,
        ),
      )
    } else controller = printed
  }
  return errors
}

const standardFinalizers = new Set(["kubernetes", "orphan", "foregroundDeletion"])

function validateFinalizers(finalizers: string[] | undefined, path: FieldPath): FieldError[] {
  const errors = (finalizers ?? []).flatMap((finalizer) =>
    validateQualifiedName(finalizer).map((fault) => invalidValue(path, finalizer, fault)),
  )
  if (finalizers?.includes("orphan") === true && finalizers.includes("foregroundDeletion")) {
    errors.push(invalidValue(path, finalizers, "finalizer orphan and foregroundDeletion cannot be both set"))
  }
  return errors
}

/** What core's rules say of finalizers that are not qualified, after everything else about metadata. */
export function validateStandardFinalizers(finalizers: string[] | undefined, path: FieldPath): FieldError[] {
  const detail = "name is neither a standard finalizer name nor is it fully qualified"
  return (finalizers ?? []).flatMap((finalizer, index) =>
    finalizer.includes("/") || standardFinalizers.has(finalizer)
      ? []
      : [invalidValue(path.index(index), finalizer, detail)],
  )
}

const immutableMeta = [
  "name",
  "namespace",
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
] as const

/** The immutable metadata on updates, after the server has restored the fields that it owns. */
export function validateObjectMetaUpdate(
  meta: ObjectMeta,
  current: ObjectMeta,
  { standardFinalizers: known = true }: Pick<ObjectMetaRules, "standardFinalizers"> = {},
): FieldError[] {
  const path = FieldPath.root("metadata")
  const errors: FieldError[] = []
  if (current.deletionTimestamp !== undefined) {
    const present = new Set(current.finalizers)
    const added = [...new Set(meta.finalizers)].filter((finalizer) => !present.has(finalizer)).sort()
    if (added.length > 0) {
      const printed = `[]string{${added.map((text) => JSON.stringify(text)).join(", ")}}`
      const detail = "no new finalizers can be added if the object is being deleted, found new finalizers"
      errors.push(forbiddenField(path.child("finalizers"), `${detail} ${printed}`))
    }
  }
  for (const field of immutableMeta) {
    if (meta[field] === current[field]) continue
    const given = field === "name" || field === "namespace" ? (meta[field] ?? "") : meta[field]
    const shown = field === "uid" ? asJson(meta.uid) : given
    errors.push(invalidValue(path.child(field), shown, "field is immutable"))
  }
  return [
    ...errors,
    ...validateMutableMeta(meta, path),
    ...validateManagedFields(meta.managedFields ?? [], path.child("managedFields")),
    ...(known ? validateStandardFinalizers(meta.finalizers, path.child("finalizers")) : []),
  ]
}
