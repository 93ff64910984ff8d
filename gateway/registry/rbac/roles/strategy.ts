// Roles and ClusterRoles. Source: k8s.io/kubernetes/pkg/apis/rbac.

import type * as models from "@kubernetes/client-node"
import { type FieldError, FieldPath, invalidValue, required } from "../../../../apimachinery/field-errors.ts"
import { validatePathSegmentName } from "../../../../apimachinery/names.ts"
import type { KubeObject, Wire } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { confirmRole } from "../grants.ts"
import { validateLabelSelector } from "../../validation/selectors.ts"

type Role = KubeObject & {
  rules?: Wire<models.V1PolicyRule>[] | null
  aggregationRule?: Wire<models.V1AggregationRule>
}

function strategyOf(namespaced: boolean): Strategy<Role> {
  return {
    nameRule: validatePathSegmentName,
    generation: false,
    allowCreateOnUpdate: true,
    confirm: (ctx, role, current) => confirmRole(ctx, role, current, namespaced ? "roles" : "clusterroles"),
    validate: (_ctx, role) => validate(role, namespaced),
    validateUpdate: (_ctx, role) => validate(role, namespaced),
  }
}

export const roles: KindExtension = { strategy: strategyOf(true) }
export const clusterRoles: KindExtension = { strategy: strategyOf(false) }

function validate(role: Role, namespaced: boolean): FieldError[] {
  const errors = (role.rules ?? []).flatMap((rule, index) =>
    validateRule(FieldPath.root("rules").index(index), rule, namespaced),
  )
  if (namespaced || role.aggregationRule === undefined) return errors
  const at = FieldPath.root("aggregationRule", "clusterRoleSelectors")
  const selectors = role.aggregationRule.clusterRoleSelectors ?? []
  if (selectors.length === 0) {
    errors.push(required(at, "at least one clusterRoleSelector required if aggregationRule is non-nil"))
  }
  for (const [index, selector] of selectors.entries()) {
    const faults = validateLabelSelector(at.index(index), selector)
    errors.push(...faults)
    if (faults.length > 0) errors.push(invalidValue(at.index(index), null, "invalid label selector."))
  }
  return errors
}

function validateRule(at: FieldPath, rule: Partial<Wire<models.V1PolicyRule>>, namespaced: boolean): FieldError[] {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  const errors: FieldError[] = []
  if (verbs.length === 0) errors.push(required(at.child("verbs"), "verbs must contain at least one value"))
  if (nonResourceURLs.length > 0) {
    const place = at.child("nonResourceURLs")
    if (namespaced) {
      errors.push(invalidValue(place, nonResourceURLs, "namespaced rules cannot apply to non-resource URLs"))
    }
    if (apiGroups.length + resources.length + resourceNames.length > 0) {
      errors.push(
        invalidValue(place, nonResourceURLs, "rules cannot apply to both regular resources and non-resource URLs"),
      )
    }
    return errors
  }
  if (apiGroups.length === 0) {
    errors.push(required(at.child("apiGroups"), "resource rules must supply at least one api group"))
  }
  if (resources.length === 0) {
    errors.push(required(at.child("resources"), "resource rules must supply at least one resource"))
  }
  return errors
}
