// Validates fields that only a Service of type LoadBalancer may set. Source: k8s.io/kubernetes/pkg/apis/core/validation.

import { trimSpace } from "../../../../apimachinery/texts.ts"
import { type FieldError, FieldPath, forbiddenField } from "../../../../apimachinery/field-errors.ts"
import { validateQualifiedName } from "../../../../apimachinery/names.ts"
import type { Service } from "../../../../apimachinery/object.ts"
import { ownValue } from "../../../../apimachinery/schema/json-object.ts"
import { legacyNetwork } from "../../validation/addresses.ts"
import { messages } from "../../validation/values.ts"
import { specOf } from "./needs.ts"

const path = FieldPath.root("spec")

const onlyBalanced = "may only be used when `type` is 'LoadBalancer'"
const rangesAnnotation = "service.beta.kubernetes.io/load-balancer-source-ranges"

export function validateLoadBalancer(service: Service, current: Service | undefined): FieldError[] {
  const spec = specOf(service)
  const balanced = spec.type === "LoadBalancer"
  const errors: FieldError[] = []
  if (spec.allocateLoadBalancerNodePorts !== undefined && !balanced) {
    errors.push(forbiddenField(path.child("allocateLoadBalancerNodePorts"), onlyBalanced))
  }
  if (spec.loadBalancerClass !== undefined) {
    errors.push(
      ...(balanced
        ? messages(
            path.child("loadBalancerClass"),
            spec.loadBalancerClass,
            validateQualifiedName(spec.loadBalancerClass),
          )
        : [forbiddenField(path.child("loadBalancerClass"), onlyBalanced)]),
    )
  }
  return [...errors, ...validateSourceRanges(service, current)]
}

/** The field, or the annotation that preceded it. White space around a range is allowed. */
function validateSourceRanges(service: Service, current: Service | undefined): FieldError[] {
  const spec = specOf(service)
  const ranges = spec.loadBalancerSourceRanges ?? []
  const annotation = ownValue(service.metadata.annotations, rangesAnnotation)
  if (ranges.length === 0 && annotation === undefined) return []
  const at =
    ranges.length > 0
      ? path.child("LoadBalancerSourceRanges")
      : FieldPath.root("metadata", "annotations").key(rangesAnnotation)
  const errors = spec.type === "LoadBalancer" ? [] : [forbiddenField(at, onlyBalanced)]
  if (ranges.length > 0) {
    const kept = new Set((current?.spec?.loadBalancerSourceRanges ?? []).map((range) => trimSpace(range)))
    return [...errors, ...ranges.flatMap((range, index) => legacyNetwork(at.index(index), trimSpace(range), kept))]
  }
  if (annotation === ownValue(current?.metadata.annotations, rangesAnnotation)) return errors
  const texts = trimSpace(annotation ?? "")
  return texts === "" ? errors : [...errors, ...texts.split(",").flatMap((text) => legacyNetwork(at, trimSpace(text)))]
}
