// PersistentVolumes. Source: k8s.io/kubernetes/pkg/{apis,registry}/core.

import { classAnnotation } from "../../../../apimachinery/core/storage-classes.ts"
import { dictionary } from "../../../../apimachinery/dictionary.ts"
import { FieldPath, forbiddenField } from "../../../../apimachinery/field-errors.ts"
import { type PersistentVolume, timestamp } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { difference, immutableFields, semanticEqual } from "../../validation/equality.ts"
import { nodeTermWarnings } from "../old-node-labels.ts"
import { validateAffinityKept } from "./node-affinity.ts"
import { validateVolume, type VolumeSpec, volumeSources } from "./validate.ts"

const path = FieldPath.root("spec")
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
    volume.status = { phase: "Pending", lastPhaseTransitionTime: timestamp() }
  },

  prepareForUpdate(ctx, volume, current) {
    if (ctx.info.subresource !== "status") {
      if (current.status !== undefined) volume.status = current.status
      return
    }
    if (current.spec !== undefined) volume.spec = current.spec
    keepTransition((volume.status ??= {}), current.status ?? {})
  },

  validate: (_ctx, volume) => validateVolume(volume),

  validateUpdate(ctx, volume, current) {
    if (ctx.info.subresource === "status") return []
    const [spec, before] = [volume.spec ?? {}, current.spec ?? {}]
    const errors = validateVolume(volume)
    if (!isSameSource(sourceOf(withoutNewSecret(spec, before)), sourceOf(before))) {
      errors.push(
        forbiddenField(
          path.child("persistentvolumesource"),
          `spec.persistentvolumesource is immutable after creation\n${difference(sourceOf(spec), sourceOf(before))}`,
        ),
      )
    }
    errors.push(...immutableFields(FieldPath.root(), spec, before, ["volumeMode"]))
    errors.push(...validateAffinityKept(spec.nodeAffinity, before.nodeAffinity))
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

type Status = NonNullable<PersistentVolume["status"]> & { lastPhaseTransitionTime?: unknown }

/** The time of the phase, unless the client sets it. */
function keepTransition(status: Status, before: Status): void {
  const [time, timeBefore] = [status.lastPhaseTransitionTime ?? null, before.lastPhaseTransitionTime ?? null]
  if (status.phase !== before.phase) {
    if (time === null || time === timeBefore) Object.assign(status, { lastPhaseTransitionTime: timestamp() })
  } else if (time === null && timeBefore !== null) Object.assign(status, { lastPhaseTransitionTime: timeBefore })
}

export const persistentVolumes: KindExtension = { strategy }

const oldSources: Readonly<Record<string, string>> = dictionary({
  cephfs: "spec.cephfs: deprecated in v1.28, non-functional in v1.31+",
  photonPersistentDisk: "spec.photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+",
  scaleIO: "spec.scaleIO: deprecated in v1.16, non-functional in v1.22+",
  storageos: "spec.storageOS: deprecated in v1.22, non-functional in v1.25+",
  glusterfs: "spec.glusterfs: deprecated in v1.25, non-functional in v1.26+",
  rbd: "spec.rbd: deprecated in v1.28, non-functional in v1.31+",
})
const oldAnnotations: Readonly<Record<string, string>> = dictionary({
  [classAnnotation]: 'deprecated since v1.8; use "storageClassName" attribute instead',
  "volume.beta.kubernetes.io/mount-options": 'deprecated since v1.31; use "mountOptions" attribute instead',
})

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
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms ?? []
  const termsPath = path.child("nodeAffinity", "required", "nodeSelectorTerms")
  for (const [index, { matchExpressions }] of terms.entries())
    warnings.push(...nodeTermWarnings(termsPath.index(index), matchExpressions, false))
  const old = Object.entries(oldSources).filter(([name]) => spec[name as keyof VolumeSpec] !== undefined)
  return [...warnings, ...old.map(([, message]) => message)]
}

function sourceOf(spec: VolumeSpec): Record<string, unknown> {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => volumeSources.includes(name)))
}

/** A field with an empty value counts as present. */
function isSameSource(source: object, before: object): boolean {
  const namesOf = (of: object): string => Object.keys(of).sort().join()
  return namesOf(source) === namesOf(before) && semanticEqual(source, before)
}

/** controllerExpandSecretRef may be added later. */
function withoutNewSecret(spec: VolumeSpec, before: VolumeSpec): VolumeSpec {
  if (spec.csi === undefined || before.csi === undefined || before.csi.controllerExpandSecretRef !== undefined) {
    return spec
  }
  const { controllerExpandSecretRef: _, ...csi } = spec.csi
  return { ...spec, csi }
}
