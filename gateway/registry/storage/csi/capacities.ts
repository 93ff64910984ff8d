// CSIStorageCapacities: what a driver says is left where. Source: k8s.io/kubernetes/pkg/apis/storage.

import { type FieldError, FieldPath, invalidValue } from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Subdomain } from "../../../../apimachinery/names.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import { compareQuantities, parseQuantity } from "../../../../apimachinery/quantity.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { immutableFields } from "../../validation/equality.ts"
import { type LabelSelector, validateLabelSelector } from "../../validation/selectors.ts"
import { messages, negative } from "../../validation/values.ts"

type CSIStorageCapacity = KubeObject & {
  storageClassName?: string
  nodeTopology?: LabelSelector
  capacity?: string
}

const strategy: Strategy<CSIStorageCapacity> = {
  generation: false,
  allowUnconditionalUpdate: false,
  validate: (_ctx, capacity) => validate(capacity),
  validateUpdate: (_ctx, capacity, current) => [
    ...validate(capacity),
    ...immutableFields(FieldPath.root(), capacity, current, ["nodeTopology", "storageClassName"]),
  ],
}

export const csiStorageCapacities: KindExtension = { strategy }

function validate({ nodeTopology, storageClassName = "", capacity: size }: CSIStorageCapacity): FieldError[] {
  const errors = [
    ...validateLabelSelector(FieldPath.root("nodeTopology"), nodeTopology),
    // An absent name is a wrong one.
    ...messages(FieldPath.root("storageClassName"), storageClassName, validateDNS1123Subdomain(storageClassName)),
  ]
  if (size === undefined || compareQuantities(parseQuantity(size), parseQuantity("0")) >= 0) return errors
  return [...errors, invalidValue(FieldPath.root("capacity"), size, negative)]
}
