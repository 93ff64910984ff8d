// StorageClasses. Source: k8s.io/kubernetes/pkg/apis/storage.

import { type FieldError, FieldPath, invalidValue, required } from "../../../../apimachinery/field-errors.ts"
import { validateQualifiedName } from "../../../../apimachinery/names.ts"
import { isGivenEmpty } from "../../../../apimachinery/schema/decode/given.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { immutableField, immutableFields, semanticEqual } from "../../validation/equality.ts"
import { immutable, messages, optionalOneOf } from "../../validation/values.ts"
import { validateParameters } from "../parameters.ts"
import { type Topologies, topologyWarnings, validateTopologies } from "./topologies.ts"

type StorageClass = KubeObject & {
  provisioner?: string
  parameters?: Record<string, string>
  reclaimPolicy?: string
  volumeBindingMode?: string
  allowedTopologies?: Topologies | null
}

const strategy: Strategy<StorageClass> = {
  generation: false,

  default(storageClass) {
    storageClass.reclaimPolicy ??= "Delete"
    storageClass.volumeBindingMode ??= "Immediate"
  },

  validate: (_ctx, storageClass) => validate(storageClass),

  validateUpdate: (_ctx, storageClass, current) => [
    ...validate(storageClass),
    ...immutableParameters(storageClass, current),
    ...immutableField(FieldPath.root("provisioner"), storageClass.provisioner ?? "", current.provisioner),
    ...immutableFields(FieldPath.root(), storageClass, current, ["reclaimPolicy", "volumeBindingMode"]),
  ],

  warnings: (_ctx, { allowedTopologies }) => topologyWarnings(allowedTopologies),
}

export const storageClasses: KindExtension = { strategy }

/** Parameters that are given and empty are shown as such. */
function immutableParameters(storageClass: StorageClass, current: StorageClass): FieldError[] {
  const value = isGivenEmpty(storageClass, "parameters") ? {} : storageClass.parameters
  return semanticEqual(storageClass.parameters, current.parameters)
    ? []
    : [invalidValue(FieldPath.root("parameters"), value, immutable)]
}

function validate(storageClass: StorageClass): FieldError[] {
  const { provisioner = "", parameters } = storageClass
  const at = FieldPath.root("provisioner")
  const lower = provisioner.toLowerCase()
  const errors = provisioner === "" ? [required(at)] : messages(at, lower, validateQualifiedName(lower))
  const { reclaimPolicy, volumeBindingMode, allowedTopologies } = storageClass
  return [
    ...errors,
    ...validateParameters(FieldPath.root("parameters"), parameters),
    ...optionalOneOf(FieldPath.root("reclaimPolicy"), reclaimPolicy || undefined, ["Delete", "Retain"]),
    ...optionalOneOf(FieldPath.root("volumeBindingMode"), volumeBindingMode, ["Immediate", "WaitForFirstConsumer"]),
    ...validateTopologies(allowedTopologies),
  ]
}
