// What a tenant is told of the source of a volume that is published to it. References to objects in its own namespaces are translated.
// Other objects are of those who administer super: neither they nor their namespaces are named. Source of the fields: PersistentVolumeSource
// of k8s.io/api/core/v1, and VisitPVSecretNames for what they refer to.

import type { PersistentVolume } from "../../apimachinery/object.ts"
import { ownValue } from "../../apimachinery/schema/json-object.ts"

export type VolumeSpec = NonNullable<PersistentVolume["spec"]>

/** A reference without a namespace is to the namespace of the claim. */
type Reference =
  /** An object with name and namespace. `isRequired`: by validation, under some conditions. */
  | { object: string; isRequired?: boolean }
  /** Two fields of the source. Validation requires the name. */
  | { name: string; namespace: string }
  /** A scope that provisioners name after the namespace of the claim. */
  | { namespace: string }

const secretRef = { object: "secretRef" }

const references: readonly (readonly [source: string, ...Reference[]])[] = [
  ["azureFile", { name: "secretName", namespace: "secretNamespace" }],
  ["cephfs", secretRef],
  ["cinder", secretRef],
  [
    "csi",
    { object: "controllerExpandSecretRef" },
    { object: "controllerPublishSecretRef" },
    { object: "nodeExpandSecretRef" },
    { object: "nodePublishSecretRef" },
    { object: "nodeStageSecretRef" },
  ],
  ["flexVolume", secretRef],
  ["glusterfs", { name: "endpoints", namespace: "endpointsNamespace" }],
  ["iscsi", { ...secretRef, isRequired: true }],
  ["rbd", secretRef],
  ["scaleIO", secretRef],
  ["storageos", secretRef, { namespace: "volumeNamespace" }],
]

/** Takes the place of a name that is not told, but must be there. */
const untold = "not-disclosed"

type Fields = Record<string, unknown>

/** The tenant's name of a namespace of super; undefined if that is of somebody else. */
type NamespaceOf = (superNamespace: string) => string | undefined

export function toldSource(spec: VolumeSpec, namespaceOf: NamespaceOf): VolumeSpec {
  const told: Fields = { ...spec }
  for (const [kind, ...all] of references) {
    const source = told[kind] as Fields | undefined
    if (source) told[kind] = all.reduce((fields, one) => toldReference(fields, one, namespaceOf), source)
  }
  return told
}

function toldReference(source: Fields, reference: Reference, namespaceOf: NamespaceOf): Fields {
  if ("object" in reference) return toldObject(source, reference, namespaceOf)
  const { [reference.namespace]: namespace, ...others } = source
  if (typeof namespace !== "string" || namespace === "") return source
  const own = namespaceOf(namespace)
  if (own !== undefined) return { ...source, [reference.namespace]: own }
  return "name" in reference ? { ...others, [reference.name]: untold } : others
}

function toldObject(
  source: Fields,
  { object: field, isRequired = false }: Extract<Reference, { object: string }>,
  namespaceOf: NamespaceOf,
): Fields {
  const { [field]: object, ...others } = source
  const { namespace, uid: _uid, resourceVersion: _version, ...rest } = (object ?? {}) as Fields
  if (typeof namespace !== "string" || namespace === "") return source
  const own = namespaceOf(namespace)
  if (own !== undefined) return { ...source, [field]: { ...rest, namespace: own } }
  return isRequired ? { ...others, [field]: { name: untold } } : others
}

/** Whether something is told otherwise now, or a reference no longer. Everything else that only one of them has may be a default. */
export function isToldOtherwise(published: VolumeSpec, told: VolumeSpec): boolean {
  return saysOtherwise(published, told) || namesMore(published, told)
}

function saysOtherwise(before: unknown, now: unknown): boolean {
  if (typeof before === "string" && typeof now === "string") return before !== now
  if (typeof before !== "object" || typeof now !== "object" || before === null || now === null) return false
  return Object.entries(before).some(([name, value]) => saysOtherwise(value, ownValue(now as Fields, name)))
}

function namesMore(before: VolumeSpec, now: VolumeSpec): boolean {
  const fieldsOf = (spec: VolumeSpec, kind: string) => ownValue(spec as Fields, kind) as Fields | null | undefined
  return references.some(([kind, ...all]) =>
    all
      .map((one) => ("object" in one ? one.object : one.namespace))
      .some((field) => Boolean(fieldsOf(before, kind)?.[field]) && !fieldsOf(now, kind)?.[field]),
  )
}
