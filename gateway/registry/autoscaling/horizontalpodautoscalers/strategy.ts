// HorizontalPodAutoscalers in both versions: the single percentage of v1 is a metric of v2. Source:
// k8s.io/kubernetes/pkg/apis/autoscaling.

import type * as models from "@kubernetes/client-node"
import { type FieldError, FieldPath, invalidValue, required } from "../../../../apimachinery/field-errors.ts"
import type { KubeObject, Wire } from "../../../../apimachinery/object.ts"
import { compareQuantities, parseQuantity, zeroQuantity } from "../../../../apimachinery/quantity.ts"
import { asAutoscalingV2, dropRoundTrip, specAnnotations, statusAnnotations } from "../../conversion/autoscaling.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { negative, optionalOneOf } from "../../validation/values.ts"
import { validateCounters } from "../../workloads/amounts.ts"
import { defaultBehavior, type Rules } from "./behavior.ts"
import { validateMetrics } from "./metrics.ts"
import { type Reference, validateReference, type VersionRule } from "./reference.ts"

/** The decoder requires no fields; validation does. */
type Spec = Partial<Wire<models.V2HorizontalPodAutoscalerSpec>>
type AutoscalerV1 = KubeObject & { spec?: { targetCPUUtilizationPercentage?: number } }
type Autoscaler = KubeObject & { spec?: Spec; status?: object }

const path = FieldPath.root("spec")
const defaultUtilization = 80
const maxWindowSeconds = 3600
const maxPeriodSeconds = 1800

const strategy: Strategy<Autoscaler> = {
  generation: false,

  default(autoscaler) {
    const spec = specOf(autoscaler)
    spec.minReplicas ??= 1
    if (autoscaler.apiVersion !== "autoscaling/v2") {
      defaultV1(autoscaler as unknown as AutoscalerV1)
      return
    }
    dropRoundTrip(autoscaler)
    if ((spec.metrics ?? []).length === 0) {
      const target = { type: "Utilization", averageUtilization: defaultUtilization }
      spec.metrics = [{ type: "Resource", resource: { name: "cpu", target } }]
    }
    defaultBehavior(spec.behavior)
  },

  prepareForCreate(_ctx, autoscaler) {
    if (autoscaler.apiVersion === "autoscaling/v1") keepAnnotations(autoscaler, undefined, statusAnnotations)
    autoscaler.status =
      autoscaler.apiVersion === "autoscaling/v2"
        ? { desiredReplicas: 0, currentMetrics: null }
        : { currentReplicas: 0, desiredReplicas: 0 }
  },

  prepareForUpdate(ctx, autoscaler, current) {
    if (autoscaler.apiVersion !== "autoscaling/v1") return
    keepAnnotations(autoscaler, current, ctx.info.subresource === "status" ? specAnnotations : statusAnnotations)
  },

  validate: (_ctx, autoscaler) => validate(autoscaler, undefined),

  validateUpdate(ctx, autoscaler, current) {
    return ctx.info.subresource === "status"
      ? validateCounters(FieldPath.root("status"), autoscaler.status, ["currentReplicas", "desiredReplicas"])
      : validate(autoscaler, current)
  },
}

export const horizontalPodAutoscalers: KindExtension = { strategy }

/**
 * v1 lacks fields for parts of spec and status, which these annotations contain. Clients may not write them, just as they may not
 * write those parts.
 */
function keepAnnotations(autoscaler: Autoscaler, current: Autoscaler | undefined, keys: readonly string[]): void {
  const annotations = { ...autoscaler.metadata.annotations }
  for (const key of keys) {
    const value = current?.metadata.annotations?.[key]
    if (value === undefined) delete annotations[key]
    else annotations[key] = value
  }
  autoscaler.metadata.annotations = annotations
}

function specOf(autoscaler: Autoscaler): Spec {
  autoscaler.spec ??= {} as Spec
  return autoscaler.spec
}

/** Metrics other than the percentage are in an annotation, in the format of v2. */
function defaultV1({ metadata, spec }: AutoscalerV1): void {
  if (spec === undefined || metadata.annotations?.["autoscaling.alpha.kubernetes.io/metrics"] !== undefined) return
  spec.targetCPUUtilizationPercentage ??= defaultUtilization
}

function validate(autoscaler: Autoscaler, current: Autoscaler | undefined): FieldError[] {
  const { spec = {} }: Autoscaler = asAutoscalingV2(autoscaler)
  const before = current?.spec
  const errors: FieldError[] = []
  const { minReplicas, maxReplicas = 0 } = spec
  const fewest = before?.minReplicas === 0 ? 0 : 1
  if (minReplicas !== undefined && minReplicas < fewest) {
    errors.push(invalidValue(path.child("minReplicas"), minReplicas, `must be greater than or equal to ${fewest}`))
  }
  const at = path.child("maxReplicas")
  if (maxReplicas === 0) errors.push(required(at, "must be set and greater than 0"))
  else if (maxReplicas < 0) errors.push(invalidValue(at, maxReplicas, "must be greater than or equal to 1"))
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    errors.push(invalidValue(at, maxReplicas, "must be greater than or equal to `minReplicas`"))
  }
  const { scaleTargetRef } = spec
  errors.push(
    ...validateReference(
      path.child("scaleTargetRef"),
      scaleTargetRef,
      versionRule(scaleTargetRef, before?.scaleTargetRef),
    ),
    ...validateMetrics(path.child("metrics"), spec.metrics ?? [], minReplicas),
  )
  for (const direction of ["scaleUp", "scaleDown"] as const) {
    errors.push(...validateRules(path.child("behavior", direction), spec.behavior?.[direction]))
  }
  return errors
}

/** ReplicationControllers are the only scalable kind without a group; previously accepted values remain valid. */
function versionRule(reference: Reference | undefined, before: Reference | undefined): VersionRule {
  if (before !== undefined && before.apiVersion === reference?.apiVersion && before.kind === reference?.kind) {
    return "anything"
  }
  return reference?.kind === "ReplicationController" ? "any group" : "group"
}

function validateRules(at: FieldPath, rules: Rules | undefined): FieldError[] {
  if (rules === undefined) return []
  const seconds = rules.stabilizationWindowSeconds
  const errors: FieldError[] = []
  if (seconds !== undefined && seconds < 0) {
    errors.push(invalidValue(at.child("stabilizationWindowSeconds"), seconds, "must be greater than or equal to zero"))
  }
  if (seconds !== undefined && seconds > maxWindowSeconds) {
    errors.push(
      invalidValue(
        at.child("stabilizationWindowSeconds"),
        seconds,
        `must be less than or equal to ${maxWindowSeconds}`,
      ),
    )
  }
  errors.push(...optionalOneOf(at.child("selectPolicy"), rules.selectPolicy, ["Disabled", "Max", "Min"]))
  const policies = rules.policies ?? []
  if (policies.length === 0) errors.push(required(at.child("policies"), "must specify at least one Policy"))
  for (const [index, policy] of policies.entries()) {
    const place = at.child("policies").index(index)
    errors.push(...optionalOneOf(place.child("type"), policy.type ?? "", ["Percent", "Pods"]))
    for (const field of ["value", "periodSeconds"] as const) {
      const amount = policy[field] ?? 0
      if (amount <= 0) errors.push(invalidValue(place.child(field), amount, "must be greater than zero"))
    }
    if ((policy.periodSeconds ?? 0) > maxPeriodSeconds) {
      const why = `must be less than or equal to ${maxPeriodSeconds}`
      errors.push(invalidValue(place.child("periodSeconds"), policy.periodSeconds, why))
    }
  }
  const { tolerance } = rules
  if (tolerance !== undefined && compareQuantities(parseQuantity(tolerance), zeroQuantity) < 0) {
    errors.push(invalidValue(at.child("tolerance"), tolerance, negative))
  }
  return errors
}
