// Storage classes that every tenant sees: those labelled tenancy.x-k8s.io/super.public=true, and the default class. A tenant's own
// classes are left alone, even under a published name.

import { defaultClassAnnotation } from "../../apimachinery/core/storage-classes.ts"
import type { KubeObject, StorageClass } from "../../apimachinery/object.ts"
import { publicLabel, uidAnnotation } from "../../apimachinery/tenancy.ts"
import { priorityClasses, storageClasses } from "../../client/resources.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { mergeDiff } from "../conversion/equality.ts"
import { isOfAnother } from "../conversion/ownership.ts"
import type { Publication } from "./resource-sync.ts"

export const storageClass: Publication<StorageClass> = {
  resource: storageClasses,
  toTenant(superObject) {
    const isDefault = superObject.metadata.annotations?.[defaultClassAnnotation] === "true"
    if (!isPublic(superObject) && !isDefault) return undefined
    return published(
      withoutSecrets(superObject),
      "storage.k8s.io/v1",
      "StorageClass",
      isDefault ? { [defaultClassAnnotation]: "true" } : {},
    )
  },
  isPublished,
  // Parameters never change.
  outdated: (desired, object) =>
    isOfAnother(desired, object) || !equalIgnoringNulls(desired.parameters, object.parameters),
  changed: changedFields,
}

/** Priority classes that every tenant sees: only those labelled public. */
export const priorityClass: Publication = {
  resource: priorityClasses,
  toTenant: (superObject) =>
    isPublic(superObject) ? published(superObject, "scheduling.k8s.io/v1", "PriorityClass", {}) : undefined,
  isPublished,
  outdated: isOfAnother,
  changed: changedFields,
}

/** "csi.storage.k8s.io/node-stage-secret-namespace", "adminSecretName" */
const nameOfSecret = /secret-?name(?:space)?$/i

/** They are of those who administer super, for the provisioner alone. */
function withoutSecrets({ parameters, ...others }: StorageClass): StorageClass {
  if (parameters === undefined) return others
  const told = Object.entries(parameters).filter(([name]) => !nameOfSecret.test(name))
  return told.length === 0 ? others : { ...others, parameters: Object.fromEntries(told) }
}

/** Whether tenants may see and use the object. */
export const isPublic = (object: KubeObject): boolean => object.metadata.labels?.[publicLabel] === "true"

function isPublished(object: KubeObject): boolean {
  return object.metadata.annotations?.[uidAnnotation] !== undefined
}

function published<T extends KubeObject>(
  superObject: T,
  apiVersion: string,
  kind: string,
  annotations: Record<string, string>,
): T {
  return {
    ...superObject,
    apiVersion,
    kind,
    metadata: {
      name: superObject.metadata.name ?? "",
      annotations: { ...annotations, [uidAnnotation]: superObject.metadata.uid ?? "" },
    },
  }
}

/** Compares everything except metadata, of which only the annotations set here are compared. */
function changedFields(desired: KubeObject, object: KubeObject): { patch: Record<string, unknown> }[] {
  const { metadata, apiVersion: _version, kind: _kind, ...wanted } = desired
  const { metadata: present, apiVersion: _presentVersion, kind: _presentKind, ...current } = object
  const patch: Record<string, unknown> = equalIgnoringNulls(current, wanted)
    ? {}
    : (mergeDiff(current, wanted) as Record<string, unknown>)
  const annotations: Record<string, string> = {}
  for (const [key, value] of Object.entries(metadata.annotations ?? {})) {
    if (present.annotations?.[key] !== value) annotations[key] = value
  }
  if (Object.keys(annotations).length > 0) patch["metadata"] = { annotations }
  return Object.keys(patch).length === 0 ? [] : [{ patch }]
}
