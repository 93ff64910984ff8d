// ReplicationControllers. Source: k8s.io/kubernetes/pkg/{apis,registry}/core.

import type * as models from "@kubernetes/client-node"
import { FieldError, FieldPath, invalidValue, required } from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Subdomain } from "../../../../apimachinery/names.ts"
import type { KubeObject, Wire } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { semanticEqual } from "../../validation/equality.ts"
import { nonNegative } from "../../validation/values.ts"
import { validateCounters } from "../../workloads/amounts.ts"
import { replicationControllerScale } from "../../workloads/scale.ts"
import { validateServingTemplate, wrongLabels } from "../../workloads/template.ts"
import { convertPodTemplate, defaultPodTemplate } from "../../../../apimachinery/core/pod-defaults.ts"
import { dropDisabledOfPod } from "../pod-spec/defaults.ts"
import { podNameWarnings, templateWarnings } from "../../workloads/warnings.ts"

type Spec = Wire<models.V1ReplicationControllerSpec>
type ReplicationController = KubeObject & { spec?: Spec; status?: Wire<models.V1ReplicationControllerStatus> }

const path = FieldPath.root("spec")

const strategy: Strategy<ReplicationController> = {
  defaultPropagation: "Orphan",

  /** Upstream's declarative validation counts bytes, and does not check the prefix of a generated name. */
  nameRule: (name, prefix) =>
    prefix ? [] : validateDNS1123Subdomain(name).map((fault) => fault.replace("253 characters", "253 bytes")),

  dropDisabled: ({ spec }) => dropDisabledOfPod(spec?.template?.spec),

  default(controller) {
    const spec = (controller.spec ??= {})
    spec.replicas ??= 1
    if (spec.template !== undefined) spec.template.metadata ??= {}
    const labels = spec.template?.metadata?.labels
    if (labels !== undefined && Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels }
    defaultLabels(controller)
    defaultPodTemplate(spec.template)
  },

  convert: ({ spec }) => convertPodTemplate(spec?.template),

  /** A status, which has no template, may take the labels away. */
  defaultOnRead: defaultLabels,

  prepareForCreate(_ctx, controller) {
    controller.status = { replicas: 0 }
  },

  validate: (_ctx, controller) => validateSpec(controller.spec ?? {}),

  validateUpdate(ctx, controller, current) {
    if (ctx.info.subresource === "status") return validateStatus(controller)
    return [...validateSpec(controller.spec ?? {}), ...validateUnconverted(controller, current)]
  },

  warnings: (_ctx, controller, current) => [
    ...podNameWarnings(controller, current),
    // On updates upstream warns about the current template, not the new one.
    ...templateWarnings(path.child("template"), (current ?? controller).spec?.template, controller, current),
  ],

  selectableFields: (controller) => ({ "status.replicas": String(controller.status?.replicas ?? 0) }),
}

/** Labels are those of the template if there are none. */
function defaultLabels({ metadata, spec }: ReplicationController): boolean {
  const labels = spec?.template?.metadata?.labels
  if (labels === undefined || Object.keys(metadata.labels ?? {}).length > 0) return false
  metadata.labels = { ...labels }
  return true
}

export const replicationControllers: KindExtension = { strategy, subresources: { scale: replicationControllerScale } }

function validateSpec(spec: Spec): FieldError[] {
  const errors = nonNegative(path.child("minReadySeconds"), spec.minReadySeconds)
  const selector = spec.selector ?? {}
  const empty = Object.keys(selector).length === 0
  if (empty) errors.push(required(path.child("selector")))
  errors.push(...nonNegative(path.child("replicas"), spec.replicas))
  const template = path.child("template")
  if (spec.template === undefined) return [...errors, required(template)]
  const labels = spec.template.metadata?.labels ?? {}
  if (!empty && !Object.entries(selector).every(([key, value]) => labels[key] === value)) {
    errors.push(wrongLabels(template, spec.template))
  }
  return [...errors, ...validateServingTemplate(template, spec.template, "ReplicationController")]
}

const unconverted = "non-convertible.kubernetes.io/"

/** Annotations for what a conversion lost keep their part of the object from changing, and if it is unknown, the whole. */
function validateUnconverted({ spec }: ReplicationController, current: ReplicationController): FieldError[] {
  return Object.entries(current.metadata.annotations ?? {}).flatMap(([key, value]) => {
    const [, field = "", ...more] = key.split("/")
    if (!key.startsWith(unconverted) || more.length > 0) return []
    if (!field.includes("selector")) {
      return [new FieldError("FieldValueNotFound", field, value, "unknown non-convertible field")]
    }
    const isKept = semanticEqual(spec?.selector, current.spec?.selector)
    return isKept
      ? []
      : [invalidValue(path.child("selector"), spec?.selector, "cannot update non-convertible selector")]
  })
}

function validateStatus(controller: ReplicationController): FieldError[] {
  const message = "cannot be greater than status.replicas"
  return validateCounters(
    FieldPath.root("status"),
    controller.status,
    ["replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration"],
    [
      ["fullyLabeledReplicas", "replicas", message],
      ["readyReplicas", "replicas", message],
      ["availableReplicas", "replicas", message],
      ["availableReplicas", "readyReplicas", "cannot be greater than readyReplicas"],
    ],
  )
}
