// Admission policies in their API form. Source: k8s.io/api/admissionregistration/v1.

import type { LabelSelector } from "../../labels.ts"
import type { KubeObject } from "../../object.ts"

export interface NamedExpression {
  name: string
  expression?: string
}

export interface NamedRule {
  operations?: string[]
  apiGroups?: string[]
  apiVersions?: string[]
  resources?: string[]
  scope?: string
  resourceNames?: string[]
}

export interface MatchResources {
  namespaceSelector?: LabelSelector
  objectSelector?: LabelSelector
  resourceRules?: NamedRule[]
  excludeResourceRules?: NamedRule[]
  matchPolicy?: string
}

export interface ParamKind {
  apiVersion?: string
  kind?: string
}

export interface ParamRef {
  name?: string
  namespace?: string
  selector?: LabelSelector
  parameterNotFoundAction?: string
}

export interface Validation {
  expression?: string
  message?: string
  messageExpression?: string
  reason?: string
}

export interface AuditAnnotation {
  key: string
  valueExpression?: string
}

export interface Mutation {
  patchType: string
  applyConfiguration?: { expression: string }
  jsonPatch?: { expression: string }
}

export interface PolicySpec {
  paramKind?: ParamKind
  matchConstraints?: MatchResources
  failurePolicy?: string
  matchConditions?: NamedExpression[]
  variables?: NamedExpression[]
  /** For a validating policy. */
  validations?: Validation[]
  auditAnnotations?: AuditAnnotation[]
  /** For a mutating policy. */
  mutations?: Mutation[]
  reinvocationPolicy?: string
}

export type Policy = KubeObject & { spec?: PolicySpec }

export interface BindingSpec {
  policyName?: string
  paramRef?: ParamRef
  matchResources?: MatchResources
  validationActions?: string[]
}

export type PolicyBinding = KubeObject & { spec?: BindingSpec }
