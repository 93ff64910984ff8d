// DaemonSets. Source: k8s.io/kubernetes/pkg/{apis,registry}/apps.

import type * as models from "@kubernetes/client-node"
import {
  type FieldError,
  FieldPath,
  invalidValue,
  notSupported,
  required,
} from "../../../../apimachinery/field-errors.ts"
import type { KubeObject, Wire } from "../../../../apimachinery/object.ts"
import { convertPodTemplate, defaultPodTemplate } from "../../../../apimachinery/core/pod-defaults.ts"
import { dropDisabledOfPod } from "../../core/pod-spec/defaults.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { immutableField, semanticEqual } from "../../validation/equality.ts"
import { validateLabelSelector, isEmptySelector } from "../../validation/selectors.ts"
import { nonNegative } from "../../validation/values.ts"
import {
  amountOf,
  atMostAll,
  bareNumber,
  convertRollout,
  shownRollout,
  validateAmount,
  notDecremented,
  validateCounters,
} from "../../workloads/amounts.ts"
import { canonicalizeInteger } from "../../workloads/annotated-integer.ts"
import { emptyTemplate, specWithTemplate, validateMatches, validateServingTemplate } from "../../workloads/template.ts"
import { templateWarnings } from "../../workloads/warnings.ts"

type Spec = Wire<models.V1DaemonSetSpec>
type DaemonSet = KubeObject & { spec?: Spec; status?: Wire<models.V1DaemonSetStatus> }

const path = FieldPath.root("spec")
/** The generation of the template, for clients of the removed extensions/v1beta1. */
const templateGeneration = "deprecated.daemonset.template.generation"

const strategy: Strategy<DaemonSet> = {
  dropDisabled: ({ spec }) => dropDisabledOfPod(spec?.template?.spec),

  default(set) {
    const spec = specWithTemplate(set)
    const update = (spec.updateStrategy ??= {})
    update.type = update.type || "RollingUpdate"
    if (update.type === "RollingUpdate") {
      update.rollingUpdate ??= {}
      update.rollingUpdate.maxUnavailable ??= 1
      update.rollingUpdate.maxSurge ??= 0
    }
    spec.revisionHistoryLimit ??= 10
    defaultPodTemplate(spec.template)
  },

  convert(set) {
    convertRollout(set.spec?.updateStrategy)
    convertPodTemplate(set.spec?.template)
    canonicalizeInteger(set, templateGeneration, (_text, fault) => fault)
    set.metadata.annotations = { [templateGeneration]: "0", ...set.metadata.annotations }
  },

  prepareForCreate(_ctx, set) {
    const given = BigInt(set.metadata.annotations?.[templateGeneration] ?? "0")
    set.metadata.annotations = { ...set.metadata.annotations, [templateGeneration]: String(given < 1n ? 1n : given) }
    set.status = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 }
  },

  prepareForUpdate(ctx, set, current, compared) {
    if (ctx.info.subresource === "" && current.status !== undefined) set.status = current.status
    const before = BigInt(current.metadata.annotations?.[templateGeneration] ?? "1")
    const changed = !semanticEqual(set.spec?.template, compared().spec?.template)
    set.metadata.annotations = {
      ...set.metadata.annotations,
      [templateGeneration]: String(changed ? BigInt.asIntN(64, before + 1n) : before),
    }
  },

  validate: (_ctx, set) => validateSpec(specWithTemplate(set)),

  validateUpdate(ctx, set, current) {
    if (ctx.info.subresource === "status") return validateStatus(set, current)
    const spec = specWithTemplate(set)
    return [...immutableField(path.child("selector"), spec.selector, current.spec?.selector), ...validateSpec(spec)]
  },

  warnings: (_ctx, set, current) =>
    semanticEqual(set.spec?.template, current?.spec?.template)
      ? []
      : templateWarnings(path.child("template"), set.spec?.template, set, current),
}

export const daemonSets: KindExtension = { strategy }

function validateSpec(spec: Spec): FieldError[] {
  const template = spec.template ?? emptyTemplate
  const selector = spec.selector as Spec["selector"] | undefined
  const errors = validateLabelSelector(path.child("selector"), selector)
  errors.push(...validateMatches(path.child("template"), selector, template))
  if (selector !== undefined && isEmptySelector(selector)) {
    errors.push(invalidValue(path.child("selector"), selector, "empty selector is invalid for daemonset"))
  }
  return [
    ...errors,
    ...validateServingTemplate(path.child("template"), template, "DaemonSet"),
    ...nonNegative(path.child("minReadySeconds"), spec.minReadySeconds),
    ...validateUpdateStrategy(path.child("updateStrategy"), spec.updateStrategy ?? {}),
    ...nonNegative(path.child("revisionHistoryLimit"), spec.revisionHistoryLimit),
  ]
}

function validateUpdateStrategy(at: FieldPath, update: NonNullable<Spec["updateStrategy"]>): FieldError[] {
  if (update.type === "OnDelete") return []
  if (update.type !== "RollingUpdate") return [notSupported(at, shownRollout(update), ["RollingUpdate", "OnDelete"])]
  if (update.rollingUpdate === undefined) return [required(at.child("rollingUpdate"))]
  const unavailable = amountOf(update.rollingUpdate.maxUnavailable)
  const surge = amountOf(update.rollingUpdate.maxSurge)
  const unavailablePath = at.child("rollingUpdate", "maxUnavailable")
  const surgePath = at.child("rollingUpdate", "maxSurge")
  const errors = [
    ...validateAmount(unavailablePath, unavailable),
    ...validateAmount(surgePath, surge),
    ...atMostAll(unavailablePath, unavailable),
    ...atMostAll(surgePath, surge),
  ]
  const [hasUnavailable, hasSurge] = [bareNumber(unavailable) !== 0, bareNumber(surge) !== 0]
  if (hasUnavailable && hasSurge) {
    errors.push(invalidValue(surgePath, surge, "may not be set when maxUnavailable is non-zero"))
  } else if (!hasUnavailable && !hasSurge) {
    errors.push(required(unavailablePath, "cannot be 0 when maxSurge is 0"))
  }
  return errors
}

function validateStatus(set: DaemonSet, current: DaemonSet): FieldError[] {
  const at = FieldPath.root("status")
  const errors = validateCounters(at, set.status, [
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
  ])
  const [count, before] = [set.status?.collisionCount, current.status?.collisionCount]
  return [...errors, ...notDecremented(at.child("collisionCount"), count, before)]
}
