// ReplicaSets. Source: k8s.io/kubernetes/pkg/{apis,registry}/apps.

import { type FieldError, FieldPath } from "../../../../apimachinery/field-errors.ts"
import type { ReplicaSet } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { defaultByTemplate } from "../older-defaults.ts"
import { immutableField } from "../../validation/equality.ts"
import { nonNegative } from "../../validation/values.ts"
import { validateCounters } from "../../workloads/amounts.ts"
import { workloadScale } from "../../workloads/scale.ts"
import { emptyTemplate, specWithTemplate, validateSelected, validateSelector } from "../../workloads/template.ts"
import { convertPodTemplate, defaultPodTemplate } from "../../../../apimachinery/core/pod-defaults.ts"
import { dropDisabledOfPod } from "../../core/pod-spec/defaults.ts"
import { podNameWarnings, templateWarnings } from "../../workloads/warnings.ts"

type Spec = NonNullable<ReplicaSet["spec"]>

const path = FieldPath.root("spec")

const strategy: Strategy<ReplicaSet> = {
  dropDisabled: ({ spec }) => dropDisabledOfPod(spec?.template?.spec),

  default(set) {
    const spec = specWithTemplate(set)
    spec.replicas ??= 1
    defaultPodTemplate(spec.template)
  },

  convert: ({ spec }) => convertPodTemplate(spec?.template),

  defaultOlder: defaultByTemplate,

  prepareForCreate(_ctx, set) {
    set.status = { replicas: 0 }
  },

  validate: (_ctx, set) => validateSpec(specWithTemplate(set)),

  validateUpdate(ctx, set, current) {
    if (ctx.info.subresource === "status") return validateStatus(set)
    const spec = specWithTemplate(set)
    return [...validateSpec(spec), ...immutableField(path.child("selector"), spec.selector, current.spec?.selector)]
  },

  selectableFields: (set) => ({ "status.replicas": String(set.status?.replicas ?? 0) }),

  warnings: (_ctx, set, current) => [
    ...podNameWarnings(set, current),
    ...templateWarnings(path.child("template"), set.spec?.template, set, current),
  ],
}

export const replicaSets: KindExtension = { strategy, subresources: { scale: workloadScale } }

function validateSpec(spec: Spec): FieldError[] {
  const template = spec.template ?? emptyTemplate
  return [
    ...nonNegative(path.child("replicas"), spec.replicas),
    ...nonNegative(path.child("minReadySeconds"), spec.minReadySeconds),
    ...validateSelector(path.child("selector"), spec.selector, "deployment"),
    ...validateSelected(path, spec.selector, template, "ReplicaSet"),
  ]
}

function validateStatus(set: ReplicaSet): FieldError[] {
  const message = "cannot be greater than status.replicas"
  return validateCounters(
    FieldPath.root("status"),
    set.status,
    [
      "replicas",
      "fullyLabeledReplicas",
      "readyReplicas",
      "availableReplicas",
      "observedGeneration",
      "terminatingReplicas",
    ],
    [
      ["fullyLabeledReplicas", "replicas", message],
      ["readyReplicas", "replicas", message],
      ["availableReplicas", "replicas", message],
      ["availableReplicas", "readyReplicas", "cannot be greater than readyReplicas"],
    ],
  )
}
