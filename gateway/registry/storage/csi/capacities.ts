// CSIStorageCapacities: the capacity that a driver reports for a topology. Source: k8s.io/kubernetes/pkg/apis/storage.

import { type FieldError, FieldPath, invalidValue } from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Subdomain } from "../../../../apimachinery/names.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import { compareQuantities, parseQuantity } from "../../../../apimachinery/quantity.ts"
import { oldSelectorWarnings } from "../../core/old-node-labels.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { immutableField } from "../../validation/equality.ts"
import { type LabelSelector, validateLabelSelector } from "../../validation/selectors.ts"
import { immutable, messages, negative } from "../../validation/values.ts"

type CSIStorageCapacity = KubeObject & {
  storageClassName?: string
  nodeTopology?: LabelSelector
  capacity?: string
}

const topology = FieldPath.root("nodeTopology")
const className = FieldPath.root("storageClassName")

const strategy: Strategy<CSIStorageCapacity> = {
  generation: false,
  allowUnconditionalUpdate: false,
  validate: (_ctx, capacity) => validate(capacity),
  validateUpdate: (_ctx, capacity, current) => [
    ...validate(capacity),
    // A selector that matches everything differs from a missing one.
    ...((capacity.nodeTopology === undefined) === (current.nodeTopology === undefined)
      ? immutableField(topology, capacity.nodeTopology, current.nodeTopology)
      : [invalidValue(topology, capacity.nodeTopology, immutable)]),
    ...immutableField(className, capacity.storageClassName ?? "", current.storageClassName),
  ],
  warnings: (_ctx, { nodeTopology }) => oldSelectorWarnings(topology, nodeTopology),
}

export const csiStorageCapacities: KindExtension = { strategy }

function validate({ nodeTopology, storageClassName = "", capacity: size }: CSIStorageCapacity): FieldError[] {
  const errors = [
    ...validateLabelSelector(topology, nodeTopology),
    // A missing name is invalid.
    ...messages(className, storageClassName, validateDNS1123Subdomain(storageClassName)),
  ]
  if (size === undefined || compareQuantities(parseQuantity(size), parseQuantity("0")) >= 0) return errors
  return [...errors, invalidValue(FieldPath.root("capacity"), size, negative)]
}
