// ResourceClaims, their templates, device classes and slices: kept, defaulted and counted as upstream. What is in them is for
// drivers of devices, which the super cluster has; it is not looked into here. Source: k8s.io/kubernetes/pkg/apis/resource.

import { FieldPath } from "../../../apimachinery/field-errors.ts"
import type { KubeObject } from "../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../strategy.ts"
import { immutableField } from "../validation/equality.ts"

interface Request {
  exactly?: { allocationMode?: string; count?: number }
  firstAvailable?: { allocationMode?: string; count?: number }[]
}
interface ClaimSpec {
  devices?: { requests?: Request[] }
}
type Claim = KubeObject & { spec?: ClaimSpec }
type Template = KubeObject & { spec?: { spec?: ClaimSpec } }

const path = FieldPath.root("spec")

const claimStrategy: Strategy<Claim> = {
  generation: false,
  default(claim) {
    const spec = (claim.spec ??= {})
    spec.devices ??= {}
    defaultCounts(spec)
  },
  validateUpdate: (ctx, claim, current) =>
    ctx.info.subresource === "status" ? [] : immutableField(path, claim.spec, current.spec),
}

const templateStrategy: Strategy<Template> = {
  generation: false,
  default(template) {
    const spec = (template.spec ??= {})
    spec.spec ??= {}
    spec.spec.devices ??= {}
    defaultCounts(spec.spec)
  },
  validateUpdate: (_ctx, template, current) => immutableField(path, template.spec, current.spec),
}

export const resourceClaims: KindExtension = { strategy: claimStrategy }
export const resourceClaimTemplates: KindExtension = { strategy: templateStrategy }

/** Who does not say how many wants one. */
function defaultCounts(spec: ClaimSpec): void {
  for (const { exactly, firstAvailable } of spec.devices?.requests ?? []) {
    for (const request of [...(exactly === undefined ? [] : [exactly]), ...(firstAvailable ?? [])]) {
      request.allocationMode = request.allocationMode || "ExactCount"
      if (request.allocationMode === "ExactCount") request.count = request.count || 1
    }
  }
}
