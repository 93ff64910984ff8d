// Metrics of a HorizontalPodAutoscaler in the terms of v2: one source each, with its target. Source:
// k8s.io/kubernetes/pkg/apis/autoscaling/validation.

import type * as models from "@kubernetes/client-node"
import { dictionary } from "../../../../apimachinery/dictionary.ts"
import {
  type FieldError,
  type FieldPath,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Label, validatePathSegmentName } from "../../../../apimachinery/names.ts"
import type { Wire } from "../../../../apimachinery/object.ts"
import { compareQuantities, parseQuantity, zeroQuantity } from "../../../../apimachinery/quantity.ts"
import { validateContainerResourceName } from "../../core/pod-spec/resources.ts"
import { messages } from "../../validation/values.ts"
import { validateReference } from "./reference.ts"

type Metric = Wire<models.V2MetricSpec>
type Target = Partial<Wire<models.V2MetricTarget>>
type Source = {
  describedObject?: Wire<models.V2CrossVersionObjectReference>
  metric?: Partial<Wire<models.V2MetricIdentifier>>
  name?: string
  container?: string
  target?: Target
}

/** In order of precedence: only the first one present is validated. */
const sources: Readonly<Record<string, SourceField>> = dictionary({
  Object: "object",
  External: "external",
  Pods: "pods",
  Resource: "resource",
  ContainerResource: "containerResource",
})
type SourceField = "object" | "external" | "pods" | "resource" | "containerResource"

const types = Object.keys(sources).toSorted()
const targetTypes = ["Utilization", "Value", "AverageValue"]

export function validateMetrics(
  at: FieldPath,
  metrics: readonly Metric[],
  minReplicas: number | undefined,
): FieldError[] {
  const errors = metrics.flatMap((metric, index) => validateMetric(at.index(index), metric))
  if (minReplicas === 0 && !metrics.some(({ type }) => type === "Object" || type === "External")) {
    const why = "must specify at least one Object or External metric to support scaling to zero replicas"
    errors.push(forbiddenField(at, why))
  }
  return errors
}

function validateMetric(at: FieldPath, metric: Metric): FieldError[] {
  const type = metric.type ?? ""
  const expected = sources[type]
  const unknown = expected === undefined ? [notSupported(at.child("type"), type, types)] : []
  const errors = type === "" ? [required(at.child("type"), "must specify a metric source type"), ...unknown] : unknown
  const present = Object.values(sources).filter((field) => metric[field] !== undefined)
  const [first] = present
  if (first !== undefined) errors.push(...validateSource(at.child(first), first, metric[first] as Source))
  if (expected === undefined) errors.push(...unknown)
  else if (metric[expected] === undefined) {
    errors.push(required(at.child(expected), "must populate information for the given metric source"))
  }
  if (present.length === 1) return errors
  return [
    ...errors,
    ...present
      .filter((field) => field !== expected)
      .map((field) => forbiddenField(at.child(field), "must populate the given metric source only")),
  ]
}

function validateSource(at: FieldPath, field: SourceField, source: Source): FieldError[] {
  const target = at.child("target")
  const aim = source.target ?? {}
  switch (field) {
    case "object":
      return [
        ...validateReference(at.child("describedObject"), source.describedObject, "any group"),
        ...validateIdentifier(at.child("metric"), source.metric),
        ...validateTarget(target, aim),
        ...oneValue(target, aim, "must set either a target value or averageValue"),
      ]
    case "external":
      return [
        ...validateIdentifier(at.child("metric"), source.metric),
        ...validateTarget(target, aim),
        ...oneValue(target, aim, "must set either a target value for metric or a per-pod target"),
        ...(aim.value !== undefined && aim.averageValue !== undefined
          ? [forbiddenField(target.child("value"), "may not set both a target value for metric and a per-pod target")]
          : []),
      ]
    case "pods":
      return [
        ...validateIdentifier(at.child("metric"), source.metric),
        ...validateTarget(target, aim),
        ...(aim.averageValue === undefined
          ? [required(target.child("averageValue"), "must specify a positive target averageValue")]
          : []),
      ]
    case "resource":
      return [...validateResourceName(at, source), ...validateTarget(target, aim), ...oneUtilization(target, aim)]
    case "containerResource":
      return [
        ...validateResourceName(at, source),
        ...(source.name ? validateContainerResourceName(at.child("name"), source.name) : []),
        ...validateContainer(at.child("container"), source.container),
        ...validateTarget(target, aim),
        ...oneUtilization(target, aim),
      ]
  }
}

function validateIdentifier(at: FieldPath, metric: Source["metric"]): FieldError[] {
  const name = metric?.name
  return name
    ? messages(at.child("name"), name, validatePathSegmentName(name))
    : [required(at.child("name"), "must specify a metric name")]
}

function validateResourceName(at: FieldPath, { name }: Source): FieldError[] {
  return name ? [] : [required(at.child("name"), "must specify a resource name")]
}

function validateContainer(at: FieldPath, container: string | undefined): FieldError[] {
  return container
    ? messages(at, container, validateDNS1123Label(container))
    : [required(at, "must specify a container")]
}

function validateTarget(at: FieldPath, { type = "", value, averageValue, averageUtilization }: Target): FieldError[] {
  const errors: FieldError[] = []
  if (type === "") errors.push(required(at.child("type"), "must specify a metric target type"))
  if (!targetTypes.includes(type)) {
    errors.push(invalidValue(at.child("type"), type, "must be either Utilization, Value, or AverageValue"))
  }
  for (const [field, amount] of Object.entries({ value, averageValue })) {
    if (amount !== undefined && compareQuantities(parseQuantity(amount), zeroQuantity) <= 0)
      errors.push(invalidValue(at.child(field), amount, "must be positive"))
  }
  if (averageUtilization !== undefined && averageUtilization < 1) {
    errors.push(invalidValue(at.child("averageUtilization"), averageUtilization, "must be greater than 0"))
  }
  return errors
}

function oneValue(at: FieldPath, { value, averageValue }: Target, why: string): FieldError[] {
  return value === undefined && averageValue === undefined ? [required(at.child("averageValue"), why)] : []
}

function oneUtilization(at: FieldPath, { averageUtilization, averageValue }: Target): FieldError[] {
  if (averageUtilization === undefined && averageValue === undefined) {
    return [required(at.child("averageUtilization"), "must set either a target raw value or a target utilization")]
  }
  if (averageUtilization === undefined || averageValue === undefined) return []
  return [forbiddenField(at.child("averageValue"), "may not set both a target raw value and a target utilization")]
}
