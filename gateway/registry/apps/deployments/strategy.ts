// Deployments. Source: k8s.io/kubernetes/pkg/{apis,registry}/apps.

import {
  type FieldError,
  FieldPath,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from "../../../../apimachinery/field-errors.ts"
import type { Deployment } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { defaultOlderDeployment } from "../older-defaults.ts"
import { immutableField, semanticEqual } from "../../validation/equality.ts"
import { negative, nonNegative } from "../../validation/values.ts"
import {
  amountOf,
  atMostAll,
  bareNumber,
  convertRollout,
  notDecremented,
  shownRollout,
  validateAmount,
  validateCounters,
} from "../../workloads/amounts.ts"
import { canonicalizeInteger } from "../../workloads/annotated-integer.ts"
import { workloadScale } from "../../workloads/scale.ts"
import { emptyTemplate, specWithTemplate, validateSelected, validateSelector } from "../../workloads/template.ts"
import { convertPodTemplate, defaultPodTemplate } from "../../../../apimachinery/core/pod-defaults.ts"
import { dropDisabledOfPod } from "../../core/pod-spec/defaults.ts"
import { podNameWarnings, templateWarnings } from "../../workloads/warnings.ts"

type Spec = NonNullable<Deployment["spec"]>

const path = FieldPath.root("spec")
/**
 * The revision to roll back to, as requested by clients of the removed extensions/v1beta1; the controller performs the rollback.
 */
const rollbackTo = "deprecated.deployment.rollback.to"

const strategy: Strategy<Deployment> = {
  dropDisabled: ({ spec }) => dropDisabledOfPod(spec?.template?.spec),

  default(deployment) {
    const spec = specWithTemplate(deployment)
    spec.replicas ??= 1
    const rollout = (spec.strategy ??= {})
    rollout.type = rollout.type || "RollingUpdate"
    if (rollout.type === "RollingUpdate") {
      rollout.rollingUpdate ??= {}
      rollout.rollingUpdate.maxUnavailable ??= "25%"
      rollout.rollingUpdate.maxSurge ??= "25%"
    }
    spec.revisionHistoryLimit ??= 10
    spec.progressDeadlineSeconds ??= 600
    defaultPodTemplate(spec.template)
  },

  convert(deployment) {
    convertRollout(deployment.spec?.strategy)
    convertPodTemplate(deployment.spec?.template)
    readRollback(deployment)
  },

  defaultOlder: defaultOlderDeployment,

  prepareForCreate(_ctx, deployment) {
    deployment.status = {}
  },

  // Annotations are copied to replica sets, so changing them changes the desired state.
  specChanged: (deployment, current) =>
    !semanticEqual(deployment.spec, current.spec) ||
    !semanticEqual(deployment.metadata.annotations, current.metadata.annotations),

  validate: (_ctx, deployment) => [...validateSpec(specWithTemplate(deployment)), ...validateRollback(deployment)],

  validateUpdate(ctx, deployment, current) {
    if (ctx.info.subresource === "status") {
      return [
        ...validateStatus(deployment),
        ...notDecremented(
          FieldPath.root("status", "collisionCount"),
          deployment.status?.collisionCount,
          current.status?.collisionCount,
        ),
      ]
    }
    const spec = specWithTemplate(deployment)
    return [
      ...validateSpec(spec),
      ...validateRollback(deployment),
      ...immutableField(path.child("selector"), spec.selector, current.spec?.selector),
    ]
  },

  warnings: (_ctx, deployment, current) => [
    ...podNameWarnings(deployment, current),
    ...templateWarnings(path.child("template"), deployment.spec?.template, deployment, current),
  ],
}

export const deployments: KindExtension = { strategy, subresources: { scale: workloadScale } }

function validateSpec(spec: Spec): FieldError[] {
  const template = spec.template ?? emptyTemplate
  const errors = [
    ...nonNegative(path.child("replicas"), spec.replicas),
    ...validateSelector(path.child("selector"), spec.selector, "deployment"),
    ...validateSelected(path, spec.selector, template, "ReplicaSet"),
    ...validateRollout(path.child("strategy"), spec.strategy ?? {}),
    ...nonNegative(path.child("minReadySeconds"), spec.minReadySeconds),
    ...nonNegative(path.child("revisionHistoryLimit"), spec.revisionHistoryLimit),
    ...nonNegative(path.child("progressDeadlineSeconds"), spec.progressDeadlineSeconds),
  ]
  const deadline = spec.progressDeadlineSeconds
  if (deadline !== undefined && deadline <= (spec.minReadySeconds ?? 0)) {
    errors.push(invalidValue(path.child("progressDeadlineSeconds"), deadline, "must be greater than minReadySeconds"))
  }
  return errors
}

/** An empty value counts as missing. */
function readRollback(deployment: Deployment): void {
  const { [rollbackTo]: text, ...others } = deployment.metadata.annotations ?? {}
  if (text === "") {
    if (Object.keys(others).length > 0) deployment.metadata.annotations = others
    else delete deployment.metadata.annotations
  } else
    canonicalizeInteger(
      deployment,
      rollbackTo,
      (given, fault) => `failed to parse annotation[${rollbackTo}]=${given} as int64: ${fault}`,
    )
}

function validateRollback({ metadata }: Deployment): FieldError[] {
  const revision = BigInt(metadata.annotations?.[rollbackTo] ?? "0")
  return revision < 0n ? [invalidValue(path.child("rollback", "version"), revision, negative)] : []
}

function validateRollout(at: FieldPath, rollout: NonNullable<Spec["strategy"]>): FieldError[] {
  if (rollout.type === "Recreate") {
    return rollout.rollingUpdate === undefined
      ? []
      : [forbiddenField(at.child("rollingUpdate"), "may not be specified when strategy `type` is 'Recreate'")]
  }
  if (rollout.type !== "RollingUpdate") return [notSupported(at, shownRollout(rollout), ["Recreate", "RollingUpdate"])]
  if (rollout.rollingUpdate === undefined) {
    return [required(at.child("rollingUpdate"), "this should be defaulted and never be nil")]
  }
  const unavailable = amountOf(rollout.rollingUpdate.maxUnavailable)
  const surge = amountOf(rollout.rollingUpdate.maxSurge)
  const unavailablePath = at.child("rollingUpdate", "maxUnavailable")
  const errors = [
    ...validateAmount(unavailablePath, unavailable),
    ...validateAmount(at.child("rollingUpdate", "maxSurge"), surge),
  ]
  if (bareNumber(unavailable) === 0 && bareNumber(surge) === 0) {
    errors.push(invalidValue(unavailablePath, unavailable, "may not be 0 when `maxSurge` is 0"))
  }
  return [...errors, ...atMostAll(unavailablePath, unavailable)]
}

function validateStatus(deployment: Deployment): FieldError[] {
  const message = "cannot be greater than status.replicas"
  return validateCounters(
    FieldPath.root("status"),
    deployment.status,
    [
      "observedGeneration",
      "replicas",
      "updatedReplicas",
      "readyReplicas",
      "availableReplicas",
      "unavailableReplicas",
      "terminatingReplicas",
      "collisionCount",
    ],
    [
      ["updatedReplicas", "replicas", message],
      ["readyReplicas", "replicas", message],
      ["availableReplicas", "replicas", message],
      ["availableReplicas", "readyReplicas", "cannot be greater than readyReplicas"],
    ],
  )
}
