// ServiceCIDRs: stored and validated; a tenant's service addresses come from the super cluster. Source:
// k8s.io/kubernetes/pkg/apis/networking.

import { parseLoosePrefix, unmapped } from "../../../../apimachinery/addresses.ts"
import { type FieldError, FieldPath, invalidValue, required } from "../../../../apimachinery/field-errors.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import { isGivenEmpty } from "../../../../apimachinery/schema/decode/given.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { strictNetwork } from "../../validation/addresses.ts"
import { immutable } from "../../validation/values.ts"

type ServiceCIDR = KubeObject & { spec?: { cidrs?: string[] } }

const path = FieldPath.root("spec", "cidrs")

const strategy: Strategy<ServiceCIDR> = {
  generation: false,
  validate: (_ctx, { spec }) => validate(spec?.cidrs ?? []),
  validateUpdate: (ctx, { spec }, current) =>
    ctx.info.subresource === "status" ? [] : validateChange(spec ?? {}, current.spec?.cidrs ?? []),
}

export const serviceCIDRs: KindExtension = { strategy }

function validate(cidrs: readonly string[]): FieldError[] {
  if (cidrs.length === 0) return [required(path, "at least one CIDR required")]
  if (cidrs.length > 2) return [invalidValue(path, { CIDRs: cidrs }, "may only hold up to 2 values")]
  const errors = cidrs.flatMap((range, index) => strictNetwork(path.index(index), range))
  const [first, second] = cidrs.map((range) => parseLoosePrefix(range)?.address).map((ip) => ip && unmapped(ip).bits)
  if (first !== undefined && first === second) {
    errors.push(
      invalidValue(
        path,
        cidrs,
        "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64",
      ),
    )
  }
  return errors
}

/** The other family may be added to a single one; no other change is allowed. */
function validateChange(spec: NonNullable<ServiceCIDR["spec"]>, before: readonly string[]): FieldError[] {
  const { cidrs = [] } = spec
  const grown = before.length === 1 && cidrs.length === 2
  if (cidrs.length !== before.length && !grown) {
    const shown = spec.cidrs ?? (isGivenEmpty(spec, "cidrs") ? [] : undefined)
    return [invalidValue(path, shown, immutable)]
  }
  const changed = before.flatMap((range, index) =>
    range === cidrs[index] ? [] : [invalidValue(path.index(index), cidrs[index], immutable)],
  )
  return grown ? [...changed, ...validate(cidrs)] : changed
}
