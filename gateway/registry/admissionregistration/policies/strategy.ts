// Admission policies and their bindings. They are evaluated in gateway/admission/policies. Source:
// k8s.io/kubernetes/pkg/registry/admissionregistration.

import { trimSpace } from "../../../../apimachinery/texts.ts"
import type {
  BindingSpec,
  MatchResources,
  Policy,
  PolicyBinding,
} from "../../../../apimachinery/cel/admission/policy.ts"
import { expressionsSizeErrors } from "../../../../apimachinery/cel/expressions-size.ts"
import { type FieldError, FieldPath, forbiddenField } from "../../../../apimachinery/field-errors.ts"
import type { Steps } from "../../../../apimachinery/steps.ts"
import type { RequestContext } from "../../../request/context.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { type Condition, validateConditions } from "../../validation/conditions.ts"
import { semanticEqual } from "../../validation/equality.ts"
import { requiredValue } from "../../validation/values.ts"
import { reservedNameWarnings } from "../reserved-names.ts"
import { mayReadParams, mayUseParams } from "./authorize.ts"
import { validateBinding, validatingPolicy } from "./validate.ts"

interface Status {
  typeChecking?: { expressionWarnings?: readonly { warning?: string; fieldRef?: string }[] }
  conditions?: readonly Condition[]
}

function policyStrategy(mutating: boolean): Strategy<Policy> {
  const validating = (policy: Policy): Steps<FieldError[]> =>
    validatingPolicy(policy.metadata.name ?? "", policy.spec ?? {}, mutating)
  return {
    allowUnconditionalUpdate: false,
    default(policy) {
      const spec = (policy.spec ??= {})
      spec.failurePolicy ??= "Fail"
      defaultMatch(spec.matchConstraints)
    },
    validateFirst: (_ctx, policy, current) => expressionsSizeErrors(FieldPath.root("spec"), policy.spec, current?.spec),
    // As upstream's status of policies that validate hands on to its storage.
    applyOfStatusCreates: !mutating,
    compiles: true,
    validating: (_ctx, policy) => validating(policy),
    *validatingUpdate(ctx, policy) {
      return ctx.info.subresource === "status" ? validateStatus(policy) : yield* validating(policy)
    },
    warnings: (_ctx, policy) => reservedNameWarnings(policy),
    statusWarnings: reservedNameWarnings,
    async validateFurther(ctx, policy, current, found) {
      const isOfStatus = ctx.info.subresource !== "" && current !== undefined
      if (found.length > 0 || policy.spec?.paramKind === undefined || isOfStatus) return []
      if (semanticEqual(policy.spec.paramKind, current?.spec?.paramKind)) return []
      const fault = await mayReadParams(ctx, policy.spec.paramKind)
      return fault === undefined ? [] : [forbiddenField(FieldPath.root("spec", "paramKind"), fault)]
    },
    specChanged: (policy, current) => !semanticEqual(policy.spec, current.spec),
  }
}

/** For policies with a status. */
function validateStatus(policy: Policy): FieldError[] {
  const at = FieldPath.root("status")
  const { typeChecking, conditions } = (policy as { status?: Status }).status ?? {}
  const warnings = typeChecking?.expressionWarnings ?? []
  return [
    ...warnings.flatMap(({ warning, fieldRef }, index) => {
      const place = at.child("typeChecking", "expressionWarnings").index(index)
      return [
        ...requiredValue(place.child("warning"), warning),
        ...requiredValue(place.child("fieldRef"), trimSpace(fieldRef ?? "")),
      ]
    }),
    ...validateConditions(at.child("conditions"), conditions),
  ]
}

function bindingStrategy(mutating: boolean): Strategy<PolicyBinding> {
  const validate = (_ctx: RequestContext, binding: PolicyBinding): FieldError[] =>
    validateBinding(binding.spec ?? {}, mutating)
  return {
    allowUnconditionalUpdate: false,
    default: (binding) => defaultMatch(binding.spec?.matchResources),
    validate,
    validateUpdate: validate,
    warnings: (_ctx, binding) => reservedNameWarnings(binding),
    async validateFurther(ctx, binding, current, found) {
      const { spec = {} } = binding
      if (found.length > 0 || spec.paramRef === undefined || isSameReference(spec, current?.spec)) return []
      const fault = await mayUseParams(ctx, spec, mutating)
      return fault === undefined ? [] : [forbiddenField(FieldPath.root("spec", "paramRef"), fault)]
    },
    specChanged: (binding, current) => !semanticEqual(binding.spec, current.spec),
  }
}

function isSameReference(spec: BindingSpec, current: BindingSpec | undefined): boolean {
  return semanticEqual(spec.paramRef, current?.paramRef) && spec.policyName === current?.policyName
}

function defaultMatch(wanted: MatchResources | undefined): void {
  if (wanted === undefined) return
  wanted.matchPolicy ??= "Equivalent"
  wanted.namespaceSelector ??= {}
  wanted.objectSelector ??= {}
  for (const rule of [...(wanted.resourceRules ?? []), ...(wanted.excludeResourceRules ?? [])]) rule.scope ??= "*"
}

export const validatingAdmissionPolicies: KindExtension = { strategy: policyStrategy(false) }
export const mutatingAdmissionPolicies: KindExtension = { strategy: policyStrategy(true) }
export const validatingAdmissionPolicyBindings: KindExtension = { strategy: bindingStrategy(false) }
export const mutatingAdmissionPolicyBindings: KindExtension = { strategy: bindingStrategy(true) }
