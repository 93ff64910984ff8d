// PodDisruptionBudgets. Source: k8s.io/kubernetes/pkg/apis/policy.

import type * as models from "@kubernetes/client-node"
import { type FieldError, FieldPath, invalidValue } from "../../../../apimachinery/field-errors.ts"
import { validatePathSegmentName } from "../../../../apimachinery/names.ts"
import type { KubeObject, Wire } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { type Condition, validateConditions } from "../../validation/conditions.ts"
import { semanticEqual } from "../../validation/equality.ts"
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

  convert: ({ spec }) => dropOldExpressions(spec?.selector),

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

/** By which upstream tells a selector of policy/v1beta1 that is empty, which selected nothing there. */
const ofOldSelector = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"

/** Alone it stays: it selects nothing. Source: k8s.io/kubernetes/pkg/apis/policy/{helper.go,v1/conversion.go}. */
function dropOldExpressions(selector: Spec["selector"]): void {
  const { matchExpressions, matchLabels } = selector ?? {}
  if (!selector || !matchExpressions?.some(({ key }) => key === ofOldSelector)) return
  if (
    semanticEqual({ matchExpressions, matchLabels }, { matchExpressions: [{ key: ofOldSelector, operator: "Exists" }] })
  )
    return
  const others = matchExpressions.filter(({ key }) => key !== ofOldSelector)
  if (others.length > 0) selector.matchExpressions = others
  else delete selector.matchExpressions
}

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
