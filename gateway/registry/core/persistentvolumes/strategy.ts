// PersistentVolumes. Source: k8s.io/kubernetes/pkg/{apis,registry}/core.

import {
  FieldPath,
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Subdomain } from "../../../../apimachinery/names.ts"
import { type PersistentVolume, timestamp } from "../../../../apimachinery/object.ts"
import { isGivenEmpty } from "../../../../apimachinery/schema/decode.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { difference, immutableField, semanticEqual } from "../../validation/equality.ts"
import { messages, optionalOneOf } from "../../validation/values.ts"
import { notNegative } from "../persistentvolumeclaims/status.ts"
import { positiveQuantity, validateAccessModes, validateVolumeMode } from "../persistentvolumeclaims/validate.ts"
import { validateNodeSelector } from "../pod-spec/scheduling.ts"
import { initiatorTooLong, validateVolumeSource, type VolumeSource } from "../volumes/sources.ts"

type Spec = NonNullable<PersistentVolume["spec"]>

const path = FieldPath.root("spec")
/** The order upstream looks in: with two sources the first counts. */
const sources = [
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
const maxInitiatorName = 64

const strategy: Strategy<PersistentVolume> = {
  generation: false,

  default(volume) {
    volume.spec ??= {}
    volume.spec.persistentVolumeReclaimPolicy = volume.spec.persistentVolumeReclaimPolicy || "Retain"
    volume.spec.volumeMode ??= "Filesystem"
    if (volume.spec.hostPath !== undefined) volume.spec.hostPath.type ??= ""
    volume.status ??= {}
    volume.status.phase = volume.status.phase || "Pending"
  },

  prepareForCreate(_ctx, volume) {
    volume.status = { phase: "Pending", lastPhaseTransitionTime: timestamp() } as NonNullable<typeof volume.status>
  },

  prepareForUpdate(ctx, volume, current) {
    if (ctx.info.subresource !== "status") {
      if (current.status !== undefined) volume.status = current.status
      return
    }
    if (current.spec !== undefined) volume.spec = current.spec
    if (volume.status !== undefined && volume.status.phase !== current.status?.phase) {
      Object.assign(volume.status, { lastPhaseTransitionTime: timestamp() })
    } else if (volume.status !== undefined && current.status?.lastPhaseTransitionTime !== undefined) {
      volume.status.lastPhaseTransitionTime ??= current.status.lastPhaseTransitionTime
    }
  },

  validate: (_ctx, volume) => validateSpec(volume.spec ?? {}, volume.metadata.name),

  validateUpdate(ctx, volume, current) {
    if (ctx.info.subresource === "status") return []
    const [spec, before] = [volume.spec ?? {}, current.spec ?? {}]
    const errors = validateSpec(spec, volume.metadata.name)
    if (!isSameSource(sourceOf(withoutNewSecret(spec, before)), sourceOf(before))) {
      errors.push(
        forbiddenField(
          path.child("persistentvolumesource"),
          `spec.persistentvolumesource is immutable after creation\n${difference(sourceOf(spec), sourceOf(before))}`,
        ),
      )
    }
    errors.push(...immutableField(FieldPath.root("volumeMode"), spec.volumeMode, before.volumeMode))
    if (before.volumeAttributesClassName !== undefined && spec.volumeAttributesClassName === undefined) {
      errors.push(
        forbiddenField(path.child("volumeAttributesClassName"), "update from non-nil value to nil is forbidden"),
      )
    }
    return errors
  },

  warnings: (_ctx, volume) => volumeWarnings(volume),

  selectableFields: (volume) => ({ name: volume.metadata.name ?? "" }),
}

export const persistentVolumes: KindExtension = { strategy }

const oldSources: Readonly<Record<string, string>> = {
  cephfs: "spec.cephfs: deprecated in v1.28, non-functional in v1.31+",
  photonPersistentDisk: "spec.photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+",
  scaleIO: "spec.scaleIO: deprecated in v1.16, non-functional in v1.22+",
  storageos: "spec.storageOS: deprecated in v1.22, non-functional in v1.25+",
  glusterfs: "spec.glusterfs: deprecated in v1.25, non-functional in v1.26+",
  rbd: "spec.rbd: deprecated in v1.28, non-functional in v1.31+",
}
const oldAnnotations: Readonly<Record<string, string>> = {
  "volume.beta.kubernetes.io/storage-class": 'deprecated since v1.8; use "storageClassName" attribute instead',
  "volume.beta.kubernetes.io/mount-options": 'deprecated since v1.31; use "mountOptions" attribute instead',
}

/** Source: k8s.io/kubernetes/pkg/api/persistentvolume. */
function volumeWarnings({ metadata, spec = {} }: PersistentVolume): string[] {
  const warnings = Object.entries(oldAnnotations)
    .filter(([key]) => metadata.annotations?.[key] !== undefined)
    .map(([key, message]) => `metadata.annotations[${key}]: ${message}`)
  if (spec.persistentVolumeReclaimPolicy === "Recycle") {
    warnings.push(
      "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.",
    )
  }
  const old = Object.entries(oldSources).filter(([name]) => spec[name as keyof Spec] !== undefined)
  return [...warnings, ...old.map(([, message]) => message)]
}

function sourceOf(spec: Spec): Record<string, unknown> {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => sources.includes(name)))
}

/** One with nothing in it is there, too. */
function isSameSource(source: object, before: object): boolean {
  const namesOf = (of: object): string => Object.keys(of).sort().join()
  return namesOf(source) === namesOf(before) && semanticEqual(source, before)
}

/** The secret a volume is expanded with may come later. */
function withoutNewSecret(spec: Spec, before: Spec): Spec {
  if (spec.csi === undefined || before.csi === undefined || before.csi.controllerExpandSecretRef !== undefined) {
    return spec
  }
  const { controllerExpandSecretRef: _, ...csi } = spec.csi
  return { ...spec, csi }
}

function validateSpec(spec: Spec, name = ""): FieldError[] {
  const modes = spec.accessModes ?? []
  const errors: FieldError[] = modes.length === 0 ? [required(path.child("accessModes"))] : []
  errors.push(...validateAccessModes(path.child("accessModes"), modes))
  const capacity = (spec.capacity ?? {}) as Record<string, string>
  const at = path.child("capacity")
  if (Object.keys(capacity).length === 0) errors.push(required(at))
  if (capacity["storage"] === undefined || Object.keys(capacity).length > 1) {
    const shown = Object.fromEntries(Object.entries(capacity).sort(([a], [b]) => (a < b ? -1 : 1)))
    errors.push(
      notSupported(at, spec.capacity !== undefined || isGivenEmpty(spec, "capacity") ? shown : undefined, ["storage"]),
    )
  }
  for (const [name, amount] of Object.entries(capacity)) {
    errors.push(...notNegative(at.key(name), amount), ...positiveQuantity(at.key(name), amount))
  }
  errors.push(
    ...optionalOneOf(path.child("persistentVolumeReclaimPolicy"), spec.persistentVolumeReclaimPolicy, [
      "Delete",
      "Recycle",
      "Retain",
    ]),
  )
  if (spec.nodeAffinity !== undefined) {
    const terms = path.child("nodeAffinity", "required")
    errors.push(
      ...(spec.nodeAffinity.required === undefined
        ? [required(terms, "must specify required node constraints")]
        : validateNodeSelector(terms, spec.nodeAffinity.required)),
    )
  }
  errors.push(...validateSource(spec, name))
  if (spec.storageClassName) {
    const at = path.child("storageClassName")
    errors.push(...messages(at, spec.storageClassName, validateDNS1123Subdomain(spec.storageClassName)))
  }
  return [
    ...errors,
    ...validateVolumeMode(path.child("volumeMode"), spec.volumeMode),
    ...validateAttributesClass(spec, path.child("volumeAttributesClassName")),
  ]
}

function validateAttributesClass(spec: Spec, at: FieldPath): FieldError[] {
  const name = spec.volumeAttributesClassName
  if (name === undefined) return []
  const errors =
    name === "" ? [required(at, "an empty string is disallowed")] : messages(at, name, validateDNS1123Subdomain(name))
  return spec.csi === undefined
    ? [...errors, required(path.child("csi"), "has to be specified when using volumeAttributesClassName")]
    : errors
}

function validateSource(spec: Spec, volumeName: string): FieldError[] {
  const given = sources.filter((name) => spec[name as keyof Spec] !== undefined)
  const [first] = given
  if (first === undefined) return [required(path, "must specify a volume type")]
  const errors = given.flatMap((name) => {
    // The driver of a flexVolume is looked at whatever else is there, and two of them are never forbidden.
    if (name !== first && name !== "flexVolume") {
      return [
        forbiddenField(path.child(name === "cephfs" ? "cephFS" : name), "may not specify more than 1 volume type"),
      ]
    }
    return validateVolumeSource(path, name, spec[name as keyof Spec] as VolumeSource, true) ?? []
  })
  const { iscsi } = spec
  if (first === "iscsi" && iscsi?.initiatorName !== undefined) {
    const whole = `${volumeName}:${iscsi.targetPortal}`
    if (whole.length > maxInitiatorName) {
      errors.push(invalidValue(path.child("iscsi", "targetportal"), iscsi.targetPortal, initiatorTooLong))
    }
  }
  if (first === "local" && spec.nodeAffinity?.required === undefined) {
    errors.push(required(path.child("nodeAffinity"), "Local volume requires node affinity"))
  }
  if (/^\/+$/.test(spec.hostPath?.path ?? "") && spec.persistentVolumeReclaimPolicy === "Recycle") {
    errors.push(
      forbiddenField(path.child("persistentVolumeReclaimPolicy"), "may not be 'recycle' for a hostPath mount of '/'"),
    )
  }
  return errors
}
