// StatefulSets. Source: k8s.io/kubernetes/pkg/{apis,registry}/apps.

import {
  asJson,
  type FieldError,
  FieldPath,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Label } from "../../../../apimachinery/names.ts"
import type { PodTemplateSpec, StatefulSet } from "../../../../apimachinery/object.ts"
import { convertPodTemplate, defaultPodTemplate } from "../../../../apimachinery/core/pod-defaults.ts"
import { dropDisabledOfPod } from "../../core/pod-spec/defaults.ts"
import { validatePersistentVolumeClaimSpec } from "../../core/persistentvolumeclaims/validate.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { defaultOlderStatefulSet } from "../older-defaults.ts"
import { semanticEqual } from "../../validation/equality.ts"
import { messages, nonNegative } from "../../validation/values.ts"
import {
  amountOf,
  atMostAll,
  bareNumber,
  notDecremented,
  validateAmount,
  validateCounters,
} from "../../workloads/amounts.ts"
import { workloadScale } from "../../workloads/scale.ts"
import { specWithTemplate, validateSelected, validateSelector } from "../../workloads/template.ts"
import { claimSpecWarnings } from "../../core/persistentvolumeclaims/warnings.ts"
import { templateWarnings } from "../../workloads/warnings.ts"

type Spec = NonNullable<StatefulSet["spec"]>

const path = FieldPath.root("spec")
const changeable = [
  "replicas",
  "template",
  "updateStrategy",
  "minReadySeconds",
  "ordinals",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
]

const strategy: Strategy<StatefulSet> = {
  nameRule: validateDNS1123Label,

  dropDisabled({ spec }) {
    dropDisabledOfPod(spec?.template?.spec)
    delete spec?.updateStrategy?.rollingUpdate?.maxUnavailable
  },

  default(set) {
    const spec = specWithTemplate(set)
    spec.podManagementPolicy = spec.podManagementPolicy || "OrderedReady"
    const update = (spec.updateStrategy ??= {})
    // As upstream, rollingUpdate is only added if the type is omitted.
    if (!update.type) {
      update.type = "RollingUpdate"
      update.rollingUpdate ??= {}
    }
    if (update.type === "RollingUpdate" && update.rollingUpdate !== undefined) update.rollingUpdate.partition ??= 0
    const retention = (spec.persistentVolumeClaimRetentionPolicy ??= {})
    retention.whenDeleted = retention.whenDeleted || "Retain"
    retention.whenScaled = retention.whenScaled || "Retain"
    spec.replicas ??= 1
    spec.revisionHistoryLimit ??= 10
    spec.serviceName ??= ""
    defaultPodTemplate(spec.template)
    for (const claim of spec.volumeClaimTemplates ?? []) {
      claim.spec ??= {}
      claim.spec.volumeMode ??= "Filesystem"
      claim.status = { phase: "Pending", ...claim.status }
    }
  },

  convert({ spec }) {
    const { rollingUpdate } = spec?.updateStrategy ?? {}
    if (rollingUpdate !== undefined) rollingUpdate.partition ??= 0 // upstream's internal type has no pointer here
    convertPodTemplate(spec?.template)
    for (const claim of spec?.volumeClaimTemplates ?? []) {
      claim.apiVersion = "v1"
      claim.kind = "PersistentVolumeClaim"
    }
  },

  defaultOlder: defaultOlderStatefulSet,

  prepareForCreate(_ctx, set) {
    set.status = { replicas: 0, availableReplicas: 0 }
  },

  validate: (_ctx, set) => validateSpec(specWithTemplate(set), undefined),

  validateUpdate(ctx, set, current) {
    if (ctx.info.subresource === "status") return validateStatus(set, current)
    const spec = specWithTemplate(set)
    const before = current.spec as Spec | undefined
    const errors = validateSpec(spec, before)
    const fixed = (of: object | undefined): unknown =>
      Object.fromEntries(Object.entries(of ?? {}).filter(([name]) => !changeable.includes(name)))
    if (!semanticEqual(fixed(spec), fixed(before))) {
      errors.push(
        forbiddenField(
          path,
          "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
        ),
      )
    }
    return errors
  },

  warnings(_ctx, set, current) {
    const warnings = templateWarnings(path.child("template"), set.spec?.template, set, current)
    for (const [index, { spec = {} }] of (set.spec?.volumeClaimTemplates ?? []).entries()) {
      const at = path.child("volumeClaimTemplates").index(index)
      // The field name in upstream's warnings on updates.
      warnings.push(...claimSpecWarnings(current === undefined ? at : at.child("Spec"), spec))
    }
    if ((set.spec?.revisionHistoryLimit ?? 0) < 0) {
      warnings.push(
        "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended",
      )
    }
    return warnings
  },
}

export const statefulSets: KindExtension = { strategy, subresources: { scale: workloadScale } }

function validateSpec(spec: Spec, current: Spec | undefined): FieldError[] {
  const errors: FieldError[] = []
  const policies = ["OrderedReady", "Parallel"]
  if (!policies.includes(spec.podManagementPolicy ?? "")) {
    errors.push(
      invalidValue(
        path.child("podManagementPolicy"),
        asJson(spec.podManagementPolicy),
        "must be 'OrderedReady' or 'Parallel'",
      ),
    )
  }
  errors.push(...validateUpdateStrategy(spec.updateStrategy ?? {}), ...validateRetention(spec))
  if (current === undefined) {
    const at = path.child("volumeClaimTemplates")
    for (const [index, claim] of (spec.volumeClaimTemplates ?? []).entries()) {
      errors.push(...validatePersistentVolumeClaimSpec(at.index(index).child("spec"), claim.spec ?? {}))
    }
  }
  errors.push(
    ...nonNegative(path.child("replicas"), spec.replicas),
    ...nonNegative(path.child("minReadySeconds"), spec.minReadySeconds),
    ...nonNegative(path.child("ordinals.start"), spec.ordinals?.start),
  )
  if (current === undefined && spec.serviceName) {
    errors.push(...messages(path.child("serviceName"), spec.serviceName, validateDNS1123Label(spec.serviceName)))
  }
  const template = withClaims(spec)
  return [
    ...errors,
    ...validateSelector(path.child("selector"), spec.selector, "statefulset"),
    ...validateSelected(path, spec.selector, template, "StatefulSet", ""),
  ]
}

/** The template as the pods will have it: claims become volumes, and the set assigns hostname and subdomain. */
function withClaims(spec: Spec): PodTemplateSpec {
  const claims = new Set((spec.volumeClaimTemplates ?? []).map((claim) => claim.metadata?.name ?? ""))
  const { hostname: _, subdomain: __, ...rest } = spec.template.spec ?? { containers: [] }
  const own = (rest.volumes ?? []).filter((volume) => !claims.has(volume.name))
  const volumes = [...Array.from(claims, (name) => ({ name, persistentVolumeClaim: { claimName: name } })), ...own]
  return { ...spec.template, spec: { ...rest, volumes } }
}

function validateUpdateStrategy(update: NonNullable<Spec["updateStrategy"]>): FieldError[] {
  const at = path.child("updateStrategy")
  if (!update.type) return [required(at)]
  const rolling = update.rollingUpdate
  if (update.type === "OnDelete") {
    return rolling === undefined
      ? []
      : [invalidValue(at.child("rollingUpdate"), rolling, "only allowed for updateStrategy 'RollingUpdate'")]
  }
  if (update.type !== "RollingUpdate") {
    return [invalidValue(at, update, "must be 'RollingUpdate' or 'OnDelete'")]
  }
  const errors = nonNegative(at.child("rollingUpdate", "partition"), rolling?.partition)
  const unavailable = amountOf(rolling?.maxUnavailable)
  if (unavailable === undefined) return errors
  const unavailablePath = at.child("rollingUpdate", "maxUnavailable")
  errors.push(...validateAmount(unavailablePath, unavailable))
  if (bareNumber(unavailable) === 0) errors.push(invalidValue(unavailablePath, unavailable, "cannot be 0"))
  return [...errors, ...atMostAll(unavailablePath, unavailable)]
}

function validateRetention(spec: Spec): FieldError[] {
  const at = path.child("persistentVolumeClaimRetentionPolicy")
  const retention = spec.persistentVolumeClaimRetentionPolicy
  if (retention === undefined) return []
  return (["whenDeleted", "whenScaled"] as const).flatMap((name) =>
    ["Retain", "Delete"].includes(retention[name] ?? "")
      ? []
      : [notSupported(at.child(name), retention[name] ?? "", ["Retain", "Delete"])],
  )
}

function validateStatus(set: StatefulSet, current: StatefulSet): FieldError[] {
  const at = FieldPath.root("status")
  const message = "cannot be greater than status.replicas"
  const errors = validateCounters(
    at,
    set.status,
    [
      "replicas",
      "readyReplicas",
      "currentReplicas",
      "updatedReplicas",
      "availableReplicas",
      "observedGeneration",
      "collisionCount",
    ],
    [
      ["readyReplicas", "replicas", message],
      ["currentReplicas", "replicas", message],
      ["updatedReplicas", "replicas", message],
      ["availableReplicas", "replicas", message],
      ["availableReplicas", "readyReplicas", "cannot be greater than status.readyReplicas"],
    ],
  )
  const [count, before] = [set.status?.collisionCount, current.status?.collisionCount]
  return [...errors, ...notDecremented(at.child("collisionCount"), count, before)]
}
