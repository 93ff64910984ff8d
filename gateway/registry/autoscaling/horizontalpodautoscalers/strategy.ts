// HorizontalPodAutoscalers, in both versions' words: v1's one percentage is a metric of v2. Source:
// k8s.io/kubernetes/pkg/apis/autoscaling.

import type * as models from "@kubernetes/client-node"
import {
  type FieldError,
  FieldPath,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from "../../../../apimachinery/field-errors.ts"
import type { KubeObject, Wire } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { nonNegative, optionalOneOf, requiredValue } from "../../validation/values.ts"
import { validateCounters } from "../../workloads/amounts.ts"

/** Nothing is required by the decoder, which is what our checks are for. */
type Spec = Partial<Wire<models.V2HorizontalPodAutoscalerSpec>>
type Metric = Wire<models.V2MetricSpec>
type Rules = Wire<models.V2HPAScalingRules>
type AutoscalerV1 = KubeObject & { spec?: { targetCPUUtilizationPercentage?: number } }
type Autoscaler = KubeObject & { spec?: Spec; status?: object }

const path = FieldPath.root("spec")
const defaultUtilization = 80
const maxWindow = 3600
const maxPeriod = 1800
const sources = {
  ContainerResource: "containerResource",
  External: "external",
  Object: "object",
  Pods: "pods",
  Resource: "resource",
} as const

const strategy: Strategy<Autoscaler> = {
  generation: false,

  default(autoscaler) {
    const spec = specOf(autoscaler)
    spec.minReplicas ??= 1
    if (autoscaler.apiVersion !== "autoscaling/v2") {
      defaultV1(autoscaler as unknown as AutoscalerV1)
      return
    }
    if ((spec.metrics ?? []).length === 0) {
      const target = { type: "Utilization", averageUtilization: defaultUtilization }
      spec.metrics = [{ type: "Resource", resource: { name: "cpu", target } }]
    }
    if (spec.behavior === undefined) return
    spec.behavior.scaleUp = { ...defaultUp(), ...spec.behavior.scaleUp }
    spec.behavior.scaleDown = { ...defaultDown(), ...spec.behavior.scaleDown }
  },

  prepareForCreate(_ctx, autoscaler) {
    autoscaler.status =
      autoscaler.apiVersion === "autoscaling/v2"
        ? { desiredReplicas: 0, currentMetrics: null }
        : { currentReplicas: 0, desiredReplicas: 0 }
  },

  validate: (_ctx, autoscaler) => validateSpec(specOf(autoscaler)),

  validateUpdate(ctx, autoscaler) {
    return ctx.info.subresource === "status"
      ? validateCounters(FieldPath.root("status"), autoscaler.status, ["currentReplicas", "desiredReplicas"])
      : validateSpec(specOf(autoscaler))
  },
}

export const horizontalPodAutoscalers: KindExtension = { strategy }

function specOf(autoscaler: Autoscaler): Spec {
  autoscaler.spec ??= {} as Spec
  return autoscaler.spec
}

/** Other metrics than the percentage lie in an annotation, in v2's words. */
function defaultV1({ metadata, spec }: AutoscalerV1): void {
  if (spec === undefined || metadata.annotations?.["autoscaling.alpha.kubernetes.io/metrics"] !== undefined) return
  spec.targetCPUUtilizationPercentage ??= defaultUtilization
}

function defaultUp(): Rules {
  return {
    stabilizationWindowSeconds: 0,
    selectPolicy: "Max",
    policies: [
      { type: "Pods", value: 4, periodSeconds: 15 },
      { type: "Percent", value: 100, periodSeconds: 15 },
    ],
  }
}

function defaultDown(): Rules {
  return { selectPolicy: "Max", policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] }
}

function validateSpec(spec: Spec): FieldError[] {
  const errors: FieldError[] = []
  const { minReplicas, maxReplicas = 0 } = spec
  if (minReplicas !== undefined && minReplicas < 1) {
    errors.push(invalidValue(path.child("minReplicas"), minReplicas, "must be greater than or equal to 1"))
  }
  const at = path.child("maxReplicas")
  if (maxReplicas === 0) errors.push(required(at, "must be set and greater than 0"))
  else if (maxReplicas < 0) errors.push(invalidValue(at, maxReplicas, "must be greater than or equal to 1"))
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    errors.push(invalidValue(at, maxReplicas, "must be greater than or equal to `minReplicas`"))
  }
  errors.push(...validateReference(path.child("scaleTargetRef"), spec.scaleTargetRef))
  for (const [index, metric] of (spec.metrics ?? []).entries()) {
    errors.push(...validateMetric(path.child("metrics").index(index), metric))
  }
  for (const direction of ["scaleUp", "scaleDown"] as const) {
    errors.push(...validateRules(path.child("behavior", direction), spec.behavior?.[direction]))
  }
  return errors
}

function validateReference(at: FieldPath, reference: Spec["scaleTargetRef"] | undefined): FieldError[] {
  const errors = [
    ...requiredValue(at.child("kind"), reference?.kind),
    ...requiredValue(at.child("name"), reference?.name),
  ]
  const apiVersion = reference?.apiVersion ?? ""
  // ReplicationControllers are the one scalable kind without a group.
  if (!apiVersion.includes("/") && reference?.kind !== "ReplicationController") {
    errors.push(invalidValue(at.child("apiVersion"), apiVersion, "apiVersion must specify API group"))
  }
  return errors
}

function validateMetric(at: FieldPath, metric: Metric): FieldError[] {
  const type = metric.type ?? ""
  const words = Object.keys(sources)
  if (type === "") {
    return [
      required(at.child("type"), "must specify a metric source type"),
      notSupported(at.child("type"), type, words),
    ]
  }
  if (!(type in sources)) return [notSupported(at.child("type"), type, words)]
  const field = sources[type as keyof typeof sources]
  const errors: FieldError[] = []
  const source = metric[field]
  if (source === undefined)
    errors.push(required(at.child(field), "must populate information for the given metric source"))
  else errors.push(...validateTarget(at.child(field, "target"), source.target, field))
  for (const other of Object.values(sources)) {
    if (other !== field && metric[other] !== undefined) {
      errors.push(forbiddenField(at.child(other), "must populate the given metric source only"))
    }
  }
  return errors
}

function validateTarget(at: FieldPath, target: Wire<models.V2MetricTarget> | undefined, source: string): FieldError[] {
  const { type, averageUtilization, averageValue, value } = target ?? {}
  const errors: FieldError[] = []
  if (!type) errors.push(required(at.child("type"), "must specify a metric target type"))
  else errors.push(...optionalOneOf(at.child("type"), type, ["AverageValue", "Utilization", "Value"]))
  if (averageUtilization !== undefined && averageUtilization < 1) {
    errors.push(invalidValue(at.child("averageUtilization"), averageUtilization, "must be greater than 0"))
  }
  if (source === "resource" || source === "containerResource") {
    if (averageUtilization === undefined && averageValue === undefined) {
      errors.push(
        required(at.child("averageUtilization"), "must set either a target raw value or a target utilization"),
      )
    }
    if (averageUtilization !== undefined && averageValue !== undefined) {
      errors.push(
        forbiddenField(at.child("averageValue"), "may not set both a target raw value and a target utilization"),
      )
    }
  } else if (value === undefined && averageValue === undefined) {
    errors.push(required(at.child("averageValue"), "must set either a target value or averageValue"))
  }
  return errors
}

function validateRules(at: FieldPath, rules: Rules | undefined): FieldError[] {
  if (rules === undefined) return []
  const seconds = rules.stabilizationWindowSeconds
  const errors = nonNegative(at.child("stabilizationWindowSeconds"), seconds)
  if (seconds !== undefined && seconds > maxWindow) {
    errors.push(
      invalidValue(at.child("stabilizationWindowSeconds"), seconds, `must be less than or equal to ${maxWindow}`),
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
    if ((policy.periodSeconds ?? 0) > maxPeriod) {
      const why = `must be less than or equal to ${maxPeriod}`
      errors.push(invalidValue(place.child("periodSeconds"), policy.periodSeconds, why))
    }
  }
  return errors
}
