// CSIDrivers: the capabilities and requirements of a driver. Source: k8s.io/kubernetes/pkg/apis/storage.

import { repeats } from "../../../../apimachinery/repeats.ts"
import { duplicate, type FieldError, FieldPath, invalidValue } from "../../../../apimachinery/field-errors.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { immutableField, semanticEqual } from "../../validation/equality.ts"
import { optionalOneOf } from "../../validation/values.ts"

interface Spec {
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
type CSIDriver = KubeObject & { spec?: Spec }

const path = FieldPath.root("spec")
const tokenSeconds = { min: 600, max: 2 ** 32 }
const minUpdateSeconds = 10
const tokensInAttributes =
  "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes"

const strategy: Strategy<CSIDriver> = {
  generation: "changes",
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

  validate: (_ctx, { spec }) => validate(spec ?? {}),

  validateUpdate: (_ctx, { spec = {} }, { spec: current = {} }) => [
    ...validate(spec),
    // Upstream's name of the field.
    ...immutableField(path.child("attachedRequired"), spec.attachRequired, current.attachRequired),
    ...immutableField(path.child("volumeLifecycleModes"), spec.volumeLifecycleModes, current.volumeLifecycleModes),
  ],

  warnings(_ctx, { spec = {} }, current) {
    const { tokenRequests = [], serviceAccountTokenInSecrets } = spec
    const isNew = current === undefined || !semanticEqual(tokensOf(spec), tokensOf(current.spec ?? {}))
    return isNew && tokenRequests.length > 0 && serviceAccountTokenInSecrets === undefined ? [tokensInAttributes] : []
  },
}

export const csiDrivers: KindExtension = { strategy }

/** A missing audience equals an empty one. */
function tokensOf({ tokenRequests = [] }: Spec): object[] {
  return tokenRequests.map((request) => ({ audience: "", ...request }))
}

function validate(spec: Spec): FieldError[] {
  return [
    ...optionalOneOf(path.child("fsGroupPolicy"), spec.fsGroupPolicy, ["File", "None", "ReadWriteOnceWithFSType"]),
    ...validateTokens(spec),
    ...(spec.volumeLifecycleModes ?? []).flatMap((mode) =>
      optionalOneOf(path.child("volumeLifecycleModes"), mode, ["Persistent", "Ephemeral"]),
    ),
    ...validateRest(spec),
  ]
}

function validateTokens({ tokenRequests = [] }: Spec): FieldError[] {
  const repeated = repeats(tokenRequests.map(({ audience = "" }) => audience))
  return tokenRequests.flatMap(({ audience = "", expirationSeconds: seconds }, index) => {
    const at = path.child("tokenRequests").index(index)
    if (repeated.has(index)) {
      return [duplicate(at.child("audience"), audience)]
    }
    const say = (detail: string): FieldError[] => [
      invalidValue(at.child("expirationSeconds"), seconds, `may not specify a duration ${detail}`),
    ]
    if (seconds === undefined) return []
    if (seconds < tokenSeconds.min) return say("less than 10 minutes")
    return seconds > tokenSeconds.max ? say("larger than 2^32 seconds") : []
  })
}

function validateRest(spec: Spec): FieldError[] {
  const { tokenRequests = [], nodeAllocatableUpdatePeriodSeconds: period, serviceAccountTokenInSecrets } = spec
  const errors: FieldError[] = []
  if (period !== undefined && period < minUpdateSeconds) {
    const at = path.child("nodeAllocatableUpdatePeriodSeconds")
    errors.push(invalidValue(at, period, `must be greater than or equal to ${minUpdateSeconds} seconds`))
  }
  if (serviceAccountTokenInSecrets !== undefined && tokenRequests.length === 0) {
    const detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
    errors.push(invalidValue(path.child("serviceAccountTokenInSecrets"), serviceAccountTokenInSecrets, detail))
  }
  return errors
}
