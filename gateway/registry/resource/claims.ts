// ResourceClaims and their templates: stored, validated, defaulted and counted as upstream; allocation happens where the devices
// are. Source: k8s.io/kubernetes/pkg/registry/resource.

import { expressionsSizeErrors } from "../../../apimachinery/cel/expressions-size.ts"
import { type FieldError, FieldPath } from "../../../apimachinery/field-errors.ts"
import type { Steps } from "../../../apimachinery/steps.ts"
import type { KindExtension, Strategy } from "../strategy.ts"
import { immutableField } from "../validation/equality.ts"
import { validateTemplateMetadata } from "../validation/template-metadata.ts"
import { mayChangeStatus, mayClaimForAdministration } from "./authorize.ts"
import { dropDeallocated, validateStatus } from "./claim-status.ts"
import { defaultCounts, distinctExpressions, validatingClaimSpec, withoutEmptyList } from "./requests.ts"
import type { Claim, Template } from "./types.ts"

const path = FieldPath.root("spec")

const claimStrategy: Strategy<Claim> = {
  generation: false,

  default(claim) {
    const spec = (claim.spec ??= {})
    spec.devices ??= {}
    defaultCounts(spec)
  },

  prepareForUpdate(ctx, claim, current) {
    if (ctx.info.subresource === "status") dropDeallocated(claim, current)
  },

  validateFirst: (_ctx, { spec }, current) =>
    expressionsSizeErrors(path, distinctExpressions(spec), distinctExpressions(current?.spec)),

  compiles: true,
  validating: (_ctx, { spec = {} }) => validatingClaimSpec(path, spec),

  validateUpdate: (ctx, claim, current) =>
    ctx.info.subresource === "status" ? validateStatus(claim, current) : immutableField(path, claim.spec, current.spec),

  settle({ spec = {} }) {
    withoutEmptyList(spec)
  },

  async refuse(ctx, claim, current) {
    if (current === undefined) return mayClaimForAdministration(ctx, claim.spec)
    return ctx.info.subresource === "status" ? mayChangeStatus(ctx, claim, current) : []
  },
}

function* validatingTemplate({ spec = {} }: Template): Steps<FieldError[]> {
  return [
    ...validateTemplateMetadata(path.child("metadata"), spec.metadata),
    ...(yield* validatingClaimSpec(path.child("spec"), spec.spec ?? {})),
  ]
}

const templateStrategy: Strategy<Template> = {
  generation: false,

  default(template) {
    const spec = (template.spec ??= {})
    spec.spec ??= {}
    spec.spec.devices ??= {}
    defaultCounts(spec.spec)
  },

  validateFirst: (_ctx, { spec }, current) =>
    expressionsSizeErrors(path, distinctExpressions(spec?.spec), distinctExpressions(current?.spec?.spec)),

  compiles: true,
  validating: (_ctx, template) => validatingTemplate(template),

  *validatingUpdate(_ctx, template, current) {
    return [...(yield* validatingTemplate(template)), ...immutableField(path, template.spec, current.spec)]
  },

  settle({ spec = {} }) {
    withoutEmptyList(spec.spec ?? {})
  },

  async refuse(ctx, template, current) {
    return current === undefined ? mayClaimForAdministration(ctx, template.spec?.spec) : []
  },
}

export const resourceClaims: KindExtension = { strategy: claimStrategy, plainStatus: true }
export const resourceClaimTemplates: KindExtension = { strategy: templateStrategy }
