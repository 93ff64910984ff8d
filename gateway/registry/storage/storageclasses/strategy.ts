// StorageClasses. Source: k8s.io/kubernetes/pkg/apis/storage.

import { type FieldError, FieldPath, invalidValue, required, tooLong } from "../../../../apimachinery/field-errors.ts"
import { validateQualifiedName } from "../../../../apimachinery/names.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { immutableField, immutableFields } from "../../validation/equality.ts"
import { messages, oneOf, optionalOneOf } from "../../validation/values.ts"
import { type Topologies, topologyWarnings, validateTopologies } from "./topologies.ts"

type StorageClass = KubeObject & {
  provisioner?: string
  parameters?: Record<string, string>
  reclaimPolicy?: string
  volumeBindingMode?: string
  allowedTopologies?: Topologies | null
}

const maxParameters = 512
const maxParameterBytes = 256 * 1024

const strategy: Strategy<StorageClass> = {
  generation: false,

  default(storageClass) {
    storageClass.reclaimPolicy ??= "Delete"
    storageClass.volumeBindingMode ??= "Immediate"
  },

  validate: (_ctx, storageClass) => validate(storageClass),

  validateUpdate: (_ctx, storageClass, current) => [
    ...validate(storageClass),
    ...immutableFields(FieldPath.root(), storageClass, current, ["parameters"]),
    ...immutableField(FieldPath.root("provisioner"), storageClass.provisioner ?? "", current.provisioner),
    ...immutableFields(FieldPath.root(), storageClass, current, ["reclaimPolicy", "volumeBindingMode"]),
  ],

  warnings: (_ctx, { allowedTopologies }) => topologyWarnings(allowedTopologies),
}

export const storageClasses: KindExtension = { strategy }

function validate(storageClass: StorageClass): FieldError[] {
  const { provisioner = "", parameters = {} } = storageClass
  const at = FieldPath.root("provisioner")
  const lower = provisioner.toLowerCase()
  const errors = provisioner === "" ? [required(at)] : messages(at, lower, validateQualifiedName(lower))
  const place = FieldPath.root("parameters")
  const entries = Object.entries(parameters)
  if (entries.length > maxParameters) errors.push(tooLong(place, "", maxParameters))
  if (entries.some(([name]) => name === "")) errors.push(invalidValue(place, "", "field can not be empty."))
  const bytes = entries.reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value), 0)
  if (bytes > maxParameterBytes) errors.push(tooLong(place, "", maxParameterBytes))
  return [
    ...errors,
    ...optionalOneOf(FieldPath.root("reclaimPolicy"), storageClass.reclaimPolicy, ["Delete", "Retain"]),
    ...oneOf(FieldPath.root("volumeBindingMode"), storageClass.volumeBindingMode, [
      "Immediate",
      "WaitForFirstConsumer",
    ]),
    ...validateTopologies(storageClass.allowedTopologies),
  ]
}
