// Validates the spec of persistent volumes, and of the inline specs in VolumeAttachments that the CSI migration of in-tree plugins
// creates. Source: k8s.io/kubernetes/pkg/apis/core/validation.

import { posix } from "node:path"
import {
  type FieldError,
  FieldPath,
  forbiddenField,
  notSupported,
  required,
} from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Subdomain } from "../../../../apimachinery/names.ts"
import type { PersistentVolume } from "../../../../apimachinery/object.ts"
import { isGivenEmpty } from "../../../../apimachinery/schema/decode/given.ts"
import { messages, optionalOneOf } from "../../validation/values.ts"
import { notNegative } from "../persistentvolumeclaims/status.ts"
import { positiveQuantity, validateAccessModes, validateVolumeMode } from "../persistentvolumeclaims/validate.ts"
import { validateNodeSelector } from "../pod-spec/scheduling.ts"
import { validateVolumeSource, type VolumeSource } from "../volumes/sources.ts"

export type VolumeSpec = NonNullable<PersistentVolume["spec"]>

/** In upstream's order: if several sources are set, the first is validated. */
export const volumeSources = [
  "hostPath",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "glusterfs",
  "flocker",
  "nfs",
  "rbd",
  "quobyte",
  "cephfs",
  "iscsi",
  "cinder",
  "fc",
  "flexVolume",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "scaleIO",
  "local",
  "storageos",
  "csi",
]

const mountOptions = "volume.beta.kubernetes.io/mount-options"
/** Sources that the annotation of mount options, which preceded the field, applies to. */
const mountable = [
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "glusterfs",
  "nfs",
  "rbd",
  "quobyte",
  "iscsi",
  "cinder",
  "cephfs",
  "azureFile",
  "vsphereVolume",
  "azureDisk",
  "photonPersistentDisk",
]

export function validateVolume({ metadata, spec = {} }: PersistentVolume): FieldError[] {
  const errors = validateVolumeSpec(FieldPath.root("spec"), spec, metadata.name)
  if (metadata.annotations?.[mountOptions] === undefined) return errors
  if (mountable.some((name) => spec[name as keyof VolumeSpec] !== undefined)) return errors
  const at = FieldPath.root("metadata", "annotations", mountOptions)
  return [...errors, forbiddenField(at, "may not specify mount options for this volume type")]
}

function validateVolumeSpec(path: FieldPath, spec: VolumeSpec, name = ""): FieldError[] {
  const { nodeAffinity, storageClassName } = spec
  const terms = path.child("nodeAffinity", "required")
  const errors = [
    ...validateModes(path, spec),
    ...validateCapacity(path.child("capacity"), spec),
    ...optionalOneOf(path.child("persistentVolumeReclaimPolicy"), spec.persistentVolumeReclaimPolicy, [
      "Delete",
      "Recycle",
      "Retain",
    ]),
  ]
  if (nodeAffinity !== undefined) {
    errors.push(
      ...(nodeAffinity.required === undefined
        ? [required(terms, "must specify required node constraints")]
        : validateNodeSelector(terms, nodeAffinity.required)),
    )
  }
  errors.push(...validateSource(path, spec, name, nodeAffinity !== undefined))
  if (storageClassName) {
    errors.push(
      ...messages(path.child("storageClassName"), storageClassName, validateDNS1123Subdomain(storageClassName)),
    )
  }
  return [
    ...errors,
    ...validateVolumeMode(path.child("volumeMode"), spec.volumeMode),
    ...validateAttributesClass(path, spec),
  ]
}

/** For an inline spec, which is not an object of its own. */
export function validateInlineVolumeSpec(path: FieldPath, spec: VolumeSpec): FieldError[] {
  const inline = "in the context of inline volumes"
  const notHere = (name: string, is: boolean): FieldError[] =>
    is ? [forbiddenField(path.child(name), `may not be specified ${inline}`)] : []
  const { persistentVolumeReclaimPolicy: policy, volumeMode: mode } = spec
  return [
    ...notHere("claimRef", spec.claimRef !== undefined),
    ...notHere("capacity", Object.keys(spec.capacity ?? {}).length > 0),
    ...(spec.csi === undefined ? [required(path.child("csi"), `has to be specified ${inline}`)] : []),
    ...validateModes(path, spec),
    ...(policy && policy !== "Retain"
      ? [forbiddenField(path.child("persistentVolumeReclaimPolicy"), `may only be Retain ${inline}`)]
      : []),
    ...notHere("nodeAffinity", spec.nodeAffinity !== undefined),
    ...validateSource(path, spec, "", false),
    ...notHere("storageClassName", (spec.storageClassName ?? "") !== ""),
    ...(mode !== undefined && mode !== "Filesystem"
      ? [forbiddenField(path.child("volumeMode"), `may not specify volumeMode other than Filesystem ${inline}`)]
      : []),
  ]
}

function validateModes(path: FieldPath, { accessModes = [] }: VolumeSpec): FieldError[] {
  const at = path.child("accessModes")
  return [...(accessModes.length === 0 ? [required(at)] : []), ...validateAccessModes(at, accessModes)]
}

function validateCapacity(at: FieldPath, spec: VolumeSpec): FieldError[] {
  const capacity = (spec.capacity ?? {}) as Record<string, string>
  const errors: FieldError[] = Object.keys(capacity).length === 0 ? [required(at)] : []
  if (capacity["storage"] === undefined || Object.keys(capacity).length > 1) {
    const shown = Object.fromEntries(Object.entries(capacity).sort(([a], [b]) => (a < b ? -1 : 1)))
    const given = spec.capacity !== undefined || isGivenEmpty(spec, "capacity")
    errors.push(notSupported(at, given ? shown : undefined, ["storage"]))
  }
  for (const [name, amount] of Object.entries(capacity)) {
    errors.push(...notNegative(at.key(name), amount), ...positiveQuantity(at.key(name), amount))
  }
  return errors
}

function validateAttributesClass(path: FieldPath, spec: VolumeSpec): FieldError[] {
  const at = path.child("volumeAttributesClassName")
  const name = spec.volumeAttributesClassName
  if (name === undefined) return []
  const errors =
    name === "" ? [required(at, "an empty string is disallowed")] : messages(at, name, validateDNS1123Subdomain(name))
  return spec.csi === undefined
    ? [...errors, required(path.child("csi"), "has to be specified when using volumeAttributesClassName")]
    : errors
}

/** Also in other spellings, like "/./". */
function isRoot(path: string): boolean {
  return posix.normalize(path) === "/"
}

function validateSource(path: FieldPath, spec: VolumeSpec, volumeName: string, hasAffinity: boolean): FieldError[] {
  const given = volumeSources.filter((name) => spec[name as keyof VolumeSpec] !== undefined)
  const [first] = given
  if (first === undefined) return [required(path, "must specify a volume type")]
  const errors = given.flatMap((name) => {
    // The driver of a flexVolume is always validated, and a flexVolume is never rejected as an additional source.
    if (name !== first && name !== "flexVolume") {
      return [
        forbiddenField(path.child(name === "cephfs" ? "cephFS" : name), "may not specify more than 1 volume type"),
      ]
    }
    const source = spec[name as keyof VolumeSpec] as VolumeSource
    const errors = validateVolumeSource(path, name, source, true, volumeName) ?? []
    return name === "local" && !hasAffinity
      ? [...errors, required(path.child("nodeAffinity"), "Local volume requires node affinity")]
      : errors
  })
  if (isRoot(spec.hostPath?.path ?? "") && spec.persistentVolumeReclaimPolicy === "Recycle") {
    errors.push(
      forbiddenField(path.child("persistentVolumeReclaimPolicy"), "may not be 'recycle' for a hostPath mount of '/'"),
    )
  }
  return errors
}
