// PodDisruptionBudgets. Source: k8s.io/kubernetes/pkg/apis/policy.

import type * as models from "@kubernetes/client-node"
import { type FieldError, FieldPath, invalidValue } from "../../../../apimachinery/field-errors.ts"
import { validatePathSegmentName } from "../../../../apimachinery/names.ts"
import type { KubeObject, Wire } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { type Condition, validateConditions } from "../../validation/conditions.ts"
import { validateLabelSelector } from "../../validation/selectors.ts"
import { optionalOneOf } from "../../validation/values.ts"
import { amountOf, atMostAll, validateAmount, validateCounters } from "../../workloads/amounts.ts"

type Spec = Wire<models.V1PodDisruptionBudgetSpec>
type Budget = KubeObject & { spec?: Spec; status?: { conditions?: Condition[] } }

const path = FieldPath.root("spec")
const counters = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"]

const strategy: Strategy<Budget> = {
  allowUnconditionalUpdate: false,
  nameRule: validatePathSegmentName,
  metadataLast: true,

  default(budget) {
    budget.spec ??= {}
  },

  prepareForCreate(_ctx, budget) {
    const status = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }
    Object.assign(budget, { status })
  },

  validate: (_ctx, budget) => validateSpec(budget.spec ?? {}),

  validateUpdate(ctx, budget) {
    if (ctx.info.subresource !== "status") return validateSpec(budget.spec ?? {})
    const at = FieldPath.root("status")
    return [
      ...validateConditions(at.child("conditions"), budget.status?.conditions),
      ...validateCounters(at, budget.status, counters),
    ]
  },
}

export const podDisruptionBudgets: KindExtension = { strategy }

function validateSpec(spec: Spec): FieldError[] {
  const errors: FieldError[] = []
  if (spec.minAvailable !== undefined && spec.maxUnavailable !== undefined) {
    errors.push(invalidValue(path, spec, "minAvailable and maxUnavailable cannot be both set"))
  }
  for (const field of ["minAvailable", "maxUnavailable"] as const) {
    const amount = amountOf(spec[field])
    if (amount === undefined) continue
    errors.push(...validateAmount(path.child(field), amount), ...atMostAll(path.child(field), amount))
  }
  return [
    ...errors,
    ...validateLabelSelector(path.child("selector"), spec.selector),
    ...optionalOneOf(path.child("unhealthyPodEvictionPolicy"), spec.unhealthyPodEvictionPolicy, [
      "AlwaysAllow",
      "IfHealthyBudget",
    ]),
  ]
}
