// ResourceClaims, their templates, device classes and slices: kept, defaulted and counted as upstream. What is in them is for
// drivers of devices, which the super cluster has; only selectors are looked into here. Source: k8s.io/kubernetes/pkg/apis/resource.

import { type FieldError, FieldPath } from "../../../apimachinery/field-errors.ts"
import type { KubeObject } from "../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../strategy.ts"
import { immutableField } from "../validation/equality.ts"
import { type DeviceSelector, validateSelectors } from "./selectors.ts"

interface DeviceRequest {
  allocationMode?: string
  count?: number
  selectors?: DeviceSelector[]
}
interface Request {
  exactly?: DeviceRequest
  firstAvailable?: DeviceRequest[]
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
  validate: (_ctx, claim) => validateRequests(path, claim.spec),
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
  validate: (_ctx, template) => validateRequests(path.child("spec"), template.spec?.spec),
  validateUpdate: (_ctx, template, current) => immutableField(path, template.spec, current.spec),
}

export const resourceClaims: KindExtension = { strategy: claimStrategy }
export const resourceClaimTemplates: KindExtension = { strategy: templateStrategy }

function validateRequests(at: FieldPath, spec: ClaimSpec = {}): FieldError[] {
  return (spec.devices?.requests ?? []).flatMap(({ exactly, firstAvailable = [] }, index) => {
    const request = at.child("devices", "requests").index(index)
    return [
      ...validateSelectors(request.child("exactly", "selectors"), exactly?.selectors),
      ...firstAvailable.flatMap(({ selectors }, place) =>
        validateSelectors(request.child("firstAvailable").index(place).child("selectors"), selectors),
      ),
    ]
  })
}

/** Who does not say how many wants one. */
function defaultCounts(spec: ClaimSpec): void {
  for (const { exactly, firstAvailable } of spec.devices?.requests ?? []) {
    for (const request of [...(exactly === undefined ? [] : [exactly]), ...(firstAvailable ?? [])]) {
      request.allocationMode = request.allocationMode || "ExactCount"
      if (request.allocationMode === "ExactCount") request.count = request.count || 1
    }
  }
}
