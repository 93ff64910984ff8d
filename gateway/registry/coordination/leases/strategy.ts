// Leases. Source: k8s.io/kubernetes/pkg/apis/coordination.

import { type FieldError, FieldPath, invalidValue } from "../../../../apimachinery/field-errors.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { nonNegative } from "../../validation/values.ts"

type Lease = KubeObject & {
  spec?: { leaseDurationSeconds?: number; leaseTransitions?: number; strategy?: string; preferredHolder?: string }
}

const path = FieldPath.root("spec")

const strategy: Strategy<Lease> = {
  generation: false,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  default(lease) {
    lease.spec ??= {}
  },
  dropDisabled({ spec }) {
    // Coordinated leader election is disabled by default.
    delete spec?.preferredHolder
    delete spec?.strategy
  },
  validate: (_ctx, lease) => validate(lease.spec ?? {}),
  validateUpdate: (_ctx, lease) => validate(lease.spec ?? {}),
}

export const leases: KindExtension = { strategy }

function validate(spec: NonNullable<Lease["spec"]>): FieldError[] {
  const seconds = spec.leaseDurationSeconds
  const errors: FieldError[] = []
  if (seconds !== undefined && seconds <= 0) {
    errors.push(invalidValue(path.child("leaseDurationSeconds"), seconds, "must be greater than 0"))
  }
  errors.push(...nonNegative(path.child("leaseTransitions"), spec.leaseTransitions))
  return errors
}
