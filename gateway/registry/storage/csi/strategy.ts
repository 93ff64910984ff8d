// CSIDrivers, CSINodes, CSIStorageCapacities, VolumeAttachments: what drivers and attachers tell each other. Source:
// k8s.io/kubernetes/pkg/apis/storage.

import {
  duplicate,
  type FieldError,
  FieldPath,
  forbiddenField,
  invalidValue,
  required,
  tooLong,
} from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Subdomain } from "../../../../apimachinery/names.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import { compareQuantities, parseQuantity } from "../../../../apimachinery/quantity.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { immutableField } from "../../validation/equality.ts"
import { type LabelSelector, validateLabelName, validateLabelSelector } from "../../validation/selectors.ts"
import { messages, named, nonNegative, optionalOneOf } from "../../validation/values.ts"

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
    preventPodSchedulingIfMissing?: boolean
  }
}

const driverStrategy: Strategy<CSIDriver> = {
  generation: false,
  allowUnconditionalUpdate: false,

  dropDisabled({ spec }) {
    delete spec?.preventPodSchedulingIfMissing
  },

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

interface Driver {
  name?: string
  nodeID?: string
  topologyKeys?: readonly string[]
  allocatable?: { count?: number }
}

type CSINode = KubeObject & { spec?: { drivers?: Driver[] | null } }

const longestName = 63
const longestID = 256

function validateDrivers(drivers: readonly Driver[]): FieldError[] {
  return drivers.flatMap(({ name = "", nodeID = "", topologyKeys = [], allocatable }, index) => {
    const at = path.child("drivers").index(index)
    const errors: FieldError[] = []
    if (name === "") errors.push(required(at.child("name")))
    if (name.length > longestName) errors.push(tooLong(at.child("name"), name, longestName))
    if (name !== "") {
      errors.push(...messages(at.child("name"), name, validateDNS1123Subdomain(name.toLowerCase())))
    }
    if (nodeID === "") errors.push(required(at.child("nodeID")))
    if (nodeID.length > longestID) {
      errors.push(invalidValue(at.child("nodeID"), nodeID, `must be ${longestID} characters or less`))
    }
    errors.push(...nonNegative(at.child("allocatable", "count"), allocatable?.count))
    for (const [position, key] of topologyKeys.entries()) {
      if (key === "") errors.push(required(at))
      if (topologyKeys.indexOf(key) < position) errors.push(duplicate(at, key))
      errors.push(...validateLabelName(at, key))
    }
    if (drivers.slice(0, index).some((earlier) => earlier.name === name)) errors.push(duplicate(at.child("name"), name))
    return errors
  })
}

const nodeStrategy: Strategy<CSINode> = {
  generation: false,
  allowUnconditionalUpdate: false,
  validate: (_ctx, { spec }) => validateDrivers(spec?.drivers ?? []),
  canonicalize({ spec }) {
    // As Go's conversions leave it: a list of nothing is no list.
    if (spec?.drivers?.length === 0) spec.drivers = null
  },
}

export const csiNodes: KindExtension = { strategy: nodeStrategy }

type CSIStorageCapacity = KubeObject & {
  storageClassName?: string
  nodeTopology?: LabelSelector
  capacity?: string
}

/** An absent name is a wrong one. */
function subdomain(at: FieldPath, name = ""): FieldError[] {
  return messages(at, name, validateDNS1123Subdomain(name))
}

function validateCapacity(size: string | undefined): FieldError[] {
  if (size === undefined || compareQuantities(parseQuantity(size), parseQuantity("0")) >= 0) return []
  return [invalidValue(FieldPath.root("capacity"), size, "must be greater than or equal to 0")]
}

const capacityStrategy: Strategy<CSIStorageCapacity> = {
  generation: false,
  allowUnconditionalUpdate: false,
  validate: (_ctx, capacity) => [
    ...validateLabelSelector(FieldPath.root("nodeTopology"), capacity.nodeTopology),
    ...subdomain(FieldPath.root("storageClassName"), capacity.storageClassName),
    ...validateCapacity(capacity.capacity),
  ],
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
    const volume = source.persistentVolumeName
    if (volume !== undefined) {
      const place = at.child("persistentVolumeName")
      if (volume === "") errors.push(required(place, "must specify non empty persistentVolumeName"))
      errors.push(...messages(place, volume, validateDNS1123Subdomain(volume)))
    }
    return [...errors, ...subdomain(path.child("nodeName"), spec?.nodeName)]
  },

  validateUpdate: (ctx, attachment, current) =>
    ctx.info.subresource === "status" ? [] : immutableField(path, attachment.spec, current.spec),
}

export const volumeAttachments: KindExtension = { strategy: attachmentStrategy }
