// VolumeAttachments: the attachment of a volume to a node by a driver. Source: k8s.io/kubernetes/pkg/apis/storage.

import {
  type FieldError,
  FieldPath,
  forbiddenField,
  invalidValue,
  required,
  tooLong,
} from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Subdomain } from "../../../../apimachinery/names.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import { validateInlineVolumeSpec, type VolumeSpec } from "../../core/persistentvolumes/validate.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { immutableField } from "../../validation/equality.ts"
import { csiDriverName, immutable, inclusiveRange, maxInt32, messages } from "../../validation/values.ts"

interface VolumeFault {
  message?: string
  errorCode?: number
}
interface Status {
  attachmentMetadata?: Record<string, string>
  attachError?: VolumeFault
  detachError?: VolumeFault
}
type VolumeAttachment = KubeObject & {
  spec?: {
    attacher?: string
    nodeName?: string
    source?: { persistentVolumeName?: string; inlineVolumeSpec?: VolumeSpec }
  }
  status?: Status
}

const path = FieldPath.root("spec")
const maxMetadataBytes = 256 * 1024
const maxMessageBytes = 1024

const strategy: Strategy<VolumeAttachment> = {
  generation: false,
  allowUnconditionalUpdate: false,

  prepareForCreate(_ctx, attachment) {
    Object.assign(attachment, { status: { attached: false } })
  },

  validate: (_ctx, attachment) => validate(attachment),

  validateUpdate: (_ctx, attachment, current) => [
    ...validate(attachment),
    // An empty volume differs from a missing one.
    ...(hasInline(attachment) === hasInline(current)
      ? immutableField(path, attachment.spec, current.spec)
      : [invalidValue(path, attachment.spec, immutable)]),
  ],
}

export const volumeAttachments: KindExtension = { strategy }

function hasInline({ spec }: VolumeAttachment): boolean {
  return spec?.source?.inlineVolumeSpec !== undefined
}

function validate({ spec = {}, status = {} }: VolumeAttachment): FieldError[] {
  const volume = spec.source?.persistentVolumeName
  const node = spec.nodeName ?? ""
  return [
    ...csiDriverName(path.child("attacher"), spec.attacher),
    ...validateSource(path.child("source"), spec.source ?? {}),
    // A missing name is invalid.
    ...messages(path.child("nodeName"), node, validateDNS1123Subdomain(node)),
    ...validateStatus(FieldPath.root("status"), status),
    ...(volume === undefined
      ? []
      : messages(path.child("source", "persistentVolumeName"), volume, validateDNS1123Subdomain(volume))),
  ]
}

function validateSource(
  at: FieldPath,
  { persistentVolumeName: volume, inlineVolumeSpec: inline }: NonNullable<VolumeAttachment["spec"]>["source"] & object,
): FieldError[] {
  const exactlyOne = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
  if (inline === undefined && volume === undefined) return [required(at, exactlyOne)]
  if (inline !== undefined && volume !== undefined) return [forbiddenField(at, exactlyOne)]
  if (inline !== undefined) return validateInlineVolumeSpec(at.child("inlineVolumeSpec"), inline)
  return volume === ""
    ? [required(at.child("persistentVolumeName"), "must specify non empty persistentVolumeName")]
    : []
}

function validateStatus(at: FieldPath, { attachmentMetadata = {}, attachError, detachError }: Status): FieldError[] {
  const bytes = Object.entries(attachmentMetadata).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  )
  return [
    ...(bytes > maxMetadataBytes ? [tooLong(at.child("attachmentMetadata"), "", maxMetadataBytes)] : []),
    ...validateFault(at.child("attachError"), attachError),
    ...validateFault(at.child("detachError"), detachError),
  ]
}

function validateFault(at: FieldPath, { message = "", errorCode }: VolumeFault = {}): FieldError[] {
  return [
    // Upstream's message contains the limit of the metadata.
    ...(Buffer.byteLength(message) > maxMessageBytes ? [tooLong(at.child("message"), "", maxMetadataBytes)] : []),
    ...(errorCode !== undefined && errorCode < 0
      ? [invalidValue(at.child("errorCode"), errorCode, inclusiveRange(0, maxInt32))]
      : []),
  ]
}
