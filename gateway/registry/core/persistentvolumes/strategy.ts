// PersistentVolumes. Source: k8s.io/kubernetes/pkg/{apis,registry}/core. Of the sources, those still in use are looked into.

import {
  FieldPath,
  type FieldError,
  forbiddenField,
  notSupported,
  required,
} from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Subdomain } from "../../../../apimachinery/names.ts"
import { type PersistentVolume, timestamp } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { immutableField, semanticEqual } from "../../validation/equality.ts"
import { messages, named, optionalOneOf, requiredValue } from "../../validation/values.ts"
import { positiveQuantity, validateAccessModes, validateVolumeMode } from "../persistentvolumeclaims/validate.ts"
import { validateNodeSelector } from "../pod-spec/scheduling.ts"

type Spec = NonNullable<PersistentVolume["spec"]>

const path = FieldPath.root("spec")
/** Every other field of the spec is the volume's source. */
const common = new Set([
  "accessModes",
  "capacity",
  "claimRef",
  "mountOptions",
  "nodeAffinity",
  "persistentVolumeReclaimPolicy",
  "storageClassName",
  "volumeAttributesClassName",
  "volumeMode",
])

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
    }
  },

  validate: (_ctx, volume) => validateSpec(volume.spec ?? {}),

  validateUpdate(ctx, volume, current) {
    if (ctx.info.subresource === "status") return []
    const [spec, before] = [volume.spec ?? {}, current.spec ?? {}]
    const errors = validateSpec(spec)
    if (!semanticEqual(sourceOf(spec), sourceOf(before))) {
      errors.push(
        forbiddenField(path.child("persistentvolumesource"), "spec.persistentvolumesource is immutable after creation"),
      )
    }
    return [...errors, ...immutableField(FieldPath.root("volumeMode"), spec.volumeMode, before.volumeMode)]
  },

  selectableFields: (volume) => ({ name: volume.metadata.name ?? "" }),
}

export const persistentVolumes: KindExtension = { strategy }

function sourceOf(spec: Spec): Record<string, unknown> {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => !common.has(name)))
}

function validateSpec(spec: Spec): FieldError[] {
  const modes = spec.accessModes ?? []
  const errors: FieldError[] = modes.length === 0 ? [required(path.child("accessModes"))] : []
  errors.push(...validateAccessModes(path.child("accessModes"), modes))
  const capacity = (spec.capacity ?? {}) as Record<string, string>
  const at = path.child("capacity")
  if (Object.keys(capacity).length === 0) errors.push(required(at))
  if (capacity["storage"] === undefined || Object.keys(capacity).length > 1) {
    errors.push(notSupported(at, spec.capacity, ["storage"]))
  }
  for (const [name, amount] of Object.entries(capacity)) errors.push(...positiveQuantity(at.key(name), amount))
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
  errors.push(...validateSource(spec))
  if (spec.storageClassName) {
    errors.push(
      ...messages(
        path.child("storageClassName"),
        spec.storageClassName,
        validateDNS1123Subdomain(spec.storageClassName),
      ),
    )
  }
  return [...errors, ...validateVolumeMode(path.child("volumeMode"), spec.volumeMode)]
}

function validateSource(spec: Spec): FieldError[] {
  const [first, ...more] = Object.keys(sourceOf(spec))
  if (first === undefined) return [required(path, "must specify a volume type")]
  const errors = more.map((name) => forbiddenField(path.child(name), "may not specify more than 1 volume type"))
  if (spec.hostPath !== undefined) {
    errors.push(...requiredValue(path.child("hostPath", "path"), spec.hostPath.path))
    if (spec.hostPath.path === "/" && spec.persistentVolumeReclaimPolicy === "Recycle") {
      errors.push(
        forbiddenField(path.child("persistentVolumeReclaimPolicy"), "may not be 'recycle' for a hostPath mount of '/'"),
      )
    }
  }
  if (spec.nfs !== undefined) {
    errors.push(...requiredValue(path.child("nfs", "server"), spec.nfs.server))
    errors.push(...requiredValue(path.child("nfs", "path"), spec.nfs.path))
  }
  if (spec.csi !== undefined) {
    errors.push(
      ...named(path.child("csi", "driver"), spec.csi.driver, (name) => validateDNS1123Subdomain(name.toLowerCase())),
    )
    errors.push(...requiredValue(path.child("csi", "volumeHandle"), spec.csi.volumeHandle))
  }
  if (spec.local !== undefined) {
    errors.push(...requiredValue(path.child("local", "path"), spec.local.path))
    if (spec.nodeAffinity === undefined) {
      errors.push(required(FieldPath.root("metadata", "annotations"), "Local volume requires node affinity"))
    }
  }
  return errors
}
