// ResourceQuotas. Usage is written by admission, in the same breath as what uses it, and put right by a controller. Source:
// k8s.io/kubernetes/pkg/{apis,registry}/core.

import { type FieldError, FieldPath, invalidValue } from "../../../../apimachinery/field-errors.ts"
import { validateQualifiedName } from "../../../../apimachinery/names.ts"
import type { ResourceQuota } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { immutable, messages } from "../../validation/values.ts"
import { isStandardResource, validateAmount } from "../pod-spec/resources.ts"

const path = FieldPath.root("spec")
const scopes = [
  "Terminating",
  "NotTerminating",
  "BestEffort",
  "NotBestEffort",
  "PriorityClass",
  "CrossNamespacePodAffinity",
  "VolumeAttributesClass",
]

const strategy: Strategy<ResourceQuota> = {
  generation: false,

  default(quota) {
    quota.spec ??= {}
  },

  prepareForCreate(_ctx, quota) {
    quota.status = {}
  },

  validate: (_ctx, quota) => validateSpec(quota),

  validateUpdate(ctx, quota, current) {
    if (ctx.info.subresource === "status") {
      return (["hard", "used"] as const).flatMap((list) =>
        validateAmounts(FieldPath.root("status", list), quota.status?.[list]),
      )
    }
    const set = (of: ResourceQuota): string => [...new Set(of.spec?.scopes ?? [])].sort().join()
    const errors = validateSpec(quota)
    if (set(quota) !== set(current)) errors.push(invalidValue(path.child("scopes"), quota.spec?.scopes, immutable))
    return errors
  },
}

export const resourceQuotas: KindExtension = { strategy }

function validateSpec(quota: ResourceQuota): FieldError[] {
  const errors = validateAmounts(path.child("hard"), quota.spec?.hard)
  const names = quota.spec?.scopes ?? []
  for (const scope of names) {
    if (!scopes.includes(scope)) errors.push(invalidValue(path.child("scopes"), names, "unsupported scope"))
  }
  const excluding = (a: string, b: string): boolean => names.includes(a) && names.includes(b)
  if (excluding("BestEffort", "NotBestEffort") || excluding("Terminating", "NotTerminating")) {
    errors.push(invalidValue(path.child("scopes"), names, "conflicting scopes"))
  }
  for (const [index, requirement] of (quota.spec?.scopeSelector?.matchExpressions ?? []).entries()) {
    const at = path.child("scopeSelector", "matchExpressions").index(index)
    if (!scopes.includes(requirement.scopeName)) {
      errors.push(invalidValue(at.child("scopeName"), requirement.scopeName, "unsupported scope"))
    }
    if (!["In", "NotIn", "Exists", "DoesNotExist"].includes(requirement.operator)) {
      errors.push(invalidValue(at.child("operator"), requirement.operator, "not a valid selector operator"))
    }
  }
  return errors
}

function validateAmounts(at: FieldPath, amounts: object | undefined): FieldError[] {
  return Object.entries(amounts ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, amount]) => {
      const place = at.key(name)
      const errors = messages(place, name, validateQualifiedName(name))
      if (errors.length === 0 && !name.includes("/") && !isStandardResource(name)) {
        errors.push(
          invalidValue(place, name, "must be a standard resource type or fully qualified"),
          invalidValue(place, name, "must be a standard resource for quota"),
        )
      }
      return [...errors, ...validateAmount(place, name, String(amount))]
    })
}
