// CSIDrivers, CSINodes, CSIStorageCapacities, VolumeAttachments: what drivers and attachers tell each other. Source:
// k8s.io/kubernetes/pkg/apis/storage.

import {
  duplicate,
  type FieldError,
  FieldPath,
  forbiddenField,
  invalidValue,
  required,
} from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Subdomain } from "../../../../apimachinery/names.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { immutableField } from "../../validation/equality.ts"
import { named, optionalOneOf, requiredValue } from "../../validation/values.ts"

const path = FieldPath.root("spec")

type CSIDriver = KubeObject & {
  spec?: {
    attachRequired?: boolean
    podInfoOnMount?: boolean
    storageCapacity?: boolean
    fsGroupPolicy?: string
    volumeLifecycleModes?: string[]
    requiresRepublish?: boolean
    seLinuxMount?: boolean
    tokenRequests?: readonly { audience?: string; expirationSeconds?: number }[]
    nodeAllocatableUpdatePeriodSeconds?: number
    serviceAccountTokenInSecrets?: boolean
  }
}

const driverStrategy: Strategy<CSIDriver> = {
  generation: false,
  allowUnconditionalUpdate: false,

  default(driver) {
    const spec = (driver.spec ??= {})
    spec.attachRequired ??= true
    spec.podInfoOnMount ??= false
    spec.storageCapacity ??= false
    spec.fsGroupPolicy ??= "ReadWriteOnceWithFSType"
    if ((spec.volumeLifecycleModes ?? []).length === 0) spec.volumeLifecycleModes = ["Persistent"]
    spec.requiresRepublish ??= false
    spec.seLinuxMount ??= false
  },

  validate: (_ctx, { spec }) => [
    ...optionalOneOf(path.child("fsGroupPolicy"), spec?.fsGroupPolicy, ["File", "None", "ReadWriteOnceWithFSType"]),
    ...(spec?.volumeLifecycleModes ?? []).flatMap((mode) =>
      optionalOneOf(path.child("volumeLifecycleModes"), mode, ["Persistent", "Ephemeral"]),
    ),
    ...validateTokens(spec ?? {}),
  ],

  validateUpdate: (_ctx, driver, current) => [
    ...immutableField(path.child("attachRequired"), driver.spec?.attachRequired, current.spec?.attachRequired),
    ...immutableField(
      path.child("volumeLifecycleModes"),
      driver.spec?.volumeLifecycleModes,
      current.spec?.volumeLifecycleModes,
    ),
  ],
}

const tokenSeconds = { min: 600, max: 2 ** 32 }
const minUpdateSeconds = 10

function validateTokens(spec: NonNullable<CSIDriver["spec"]>): FieldError[] {
  const {
    tokenRequests = [],
    nodeAllocatableUpdatePeriodSeconds: period,
    serviceAccountTokenInSecrets: inSecrets,
  } = spec
  const errors: FieldError[] = []
  for (const [index, { audience = "", expirationSeconds: seconds }] of tokenRequests.entries()) {
    const at = path.child("tokenRequests").index(index)
    if (tokenRequests.slice(0, index).some((earlier) => (earlier.audience ?? "") === audience)) {
      errors.push(duplicate(at.child("audience"), audience))
    }
    if (seconds === undefined) continue
    const say = (detail: string): unknown =>
      errors.push(invalidValue(at.child("expirationSeconds"), seconds, `may not specify a duration ${detail}`))
    if (seconds < tokenSeconds.min) say("less than 10 minutes")
    if (seconds > tokenSeconds.max) say("larger than 2^32 seconds")
  }
  if (period !== undefined && period < minUpdateSeconds) {
    const at = path.child("nodeAllocatableUpdatePeriodSeconds")
    errors.push(invalidValue(at, period, `must be greater than or equal to ${minUpdateSeconds} seconds`))
  }
  if (inSecrets !== undefined && tokenRequests.length === 0) {
    const detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
    errors.push(invalidValue(path.child("serviceAccountTokenInSecrets"), inSecrets, detail))
  }
  return errors
}

export const csiDrivers: KindExtension = { strategy: driverStrategy }

type CSINode = KubeObject & { spec?: { drivers?: unknown[] | null } }

const nodeStrategy: Strategy<CSINode> = {
  generation: false,
  allowUnconditionalUpdate: false,
  canonicalize({ spec }) {
    // As Go's conversions leave it: a list of nothing is no list.
    if (spec?.drivers?.length === 0) spec.drivers = null
  },
}

export const csiNodes: KindExtension = { strategy: nodeStrategy }

type CSIStorageCapacity = KubeObject & { storageClassName?: string; nodeTopology?: unknown }

const capacityStrategy: Strategy<CSIStorageCapacity> = {
  generation: false,
  allowUnconditionalUpdate: false,
  validate: (_ctx, capacity) =>
    named(FieldPath.root("storageClassName"), capacity.storageClassName, validateDNS1123Subdomain),
  validateUpdate: (_ctx, capacity, current) => [
    ...immutableField(FieldPath.root("nodeTopology"), capacity.nodeTopology, current.nodeTopology),
    ...immutableField(FieldPath.root("storageClassName"), capacity.storageClassName, current.storageClassName),
  ],
}

export const csiStorageCapacities: KindExtension = { strategy: capacityStrategy }

type VolumeAttachment = KubeObject & {
  spec?: {
    attacher?: string
    nodeName?: string
    source?: { persistentVolumeName?: string; inlineVolumeSpec?: object }
  }
  status?: object
}

const attachmentStrategy: Strategy<VolumeAttachment> = {
  generation: false,
  allowUnconditionalUpdate: false,

  prepareForCreate(_ctx, attachment) {
    attachment.status = { attached: false }
  },

  validate(_ctx, { spec }) {
    const source = spec?.source ?? {}
    const at = path.child("source")
    const exactlyOne = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
    const errors = [
      ...named(path.child("attacher"), spec?.attacher, (name) => validateDNS1123Subdomain(name.toLowerCase())),
    ]
    if (source.inlineVolumeSpec === undefined && source.persistentVolumeName === undefined) {
      errors.push(required(at, exactlyOne))
    } else if (source.inlineVolumeSpec !== undefined && source.persistentVolumeName !== undefined) {
      errors.push(forbiddenField(at, exactlyOne))
    }
    return [...errors, ...requiredValue(path.child("nodeName"), spec?.nodeName)]
  },

  validateUpdate: (ctx, attachment, current) =>
    ctx.info.subresource === "status" ? [] : immutableField(path, attachment.spec, current.spec),
}

export const volumeAttachments: KindExtension = { strategy: attachmentStrategy }
