// The IP families of a Service: defaults, and whether its policy allows them. Whether the cluster supports a family is checked by
// the allocator (ServiceAddresses). Source: k8s.io/kubernetes/pkg/registry/core/service/storage, initIPFamilyFields.

import { type FieldError, FieldPath, invalidValue } from "../../../../apimachinery/field-errors.ts"
import { semanticEqual } from "../../validation/equality.ts"
import { isIPv6Address } from "../../validation/addresses.ts"
import { isOfAnyFamily, needsClusterIP, type ServiceSpec } from "./needs.ts"

const path = FieldPath.root("spec")

export const familyOf = (address: string): "IPv4" | "IPv6" => (isIPv6Address(address) ? "IPv6" : "IPv4")

export function policyOf(spec: ServiceSpec): string {
  return spec.ipFamilyPolicy ?? (isOfAnyFamily(spec) ? "RequireDualStack" : "SingleStack")
}

/** Keeps families that an update does not contain, except for the second one if the policy allows only one. */
export function keepFamilies(spec: ServiceSpec, current: ServiceSpec): void {
  if (!needsClusterIP(current) || !needsClusterIP(spec)) return
  if (current.ipFamilyPolicy !== undefined) spec.ipFamilyPolicy ??= current.ipFamilyPolicy
  const single = spec.ipFamilyPolicy === "SingleStack"
  for (const field of ["clusterIPs", "ipFamilies"] as const) {
    const [first, second] = spec[field] ?? []
    if (single && first !== undefined && second !== undefined && semanticEqual(spec[field], current[field]))
      spec[field] = [first]
  }
  // Those of a service that gets a selector are chosen anew.
  const isSelected = isOfAnyFamily(current) && !isOfAnyFamily(spec)
  if ((spec.ipFamilies ?? []).length === 0 && current.ipFamilies !== undefined && !isSelected)
    spec.ipFamilies = current.ipFamilies.slice(0, single ? 1 : 2)
  if (isOfAnyFamily(spec) && familyFaults(spec, current).length === 0) completeFamilies(spec)
}

/** Adds the second family unless the policy allows only one. */
export function completeFamilies(spec: ServiceSpec): void {
  const families = (spec.ipFamilies ??= [])
  if (families.length === 0) families.push("IPv4")
  if (families.length < 2 && policyOf(spec) !== "SingleStack") families.push(families[0] === "IPv4" ? "IPv6" : "IPv4")
}

const several = "must be 'RequireDualStack' or 'PreferDualStack' when multiple"

export function familyFaults(spec: ServiceSpec, current: ServiceSpec | undefined): FieldError[] {
  if (!needsClusterIP(spec)) return []
  const policy = policyOf(spec)
  const lists = [
    { field: "clusterIPs", one: "cluster IP", many: "cluster IPs" },
    { field: "ipFamilies", one: "IP family", many: "IP families" },
  ] as const
  return lists.flatMap(({ field, one, many }) => {
    const [count, before] = [spec[field]?.length ?? 0, current?.[field]?.length ?? 0]
    const refuse = (detail: string): FieldError[] => [invalidValue(path.child("ipFamilyPolicy"), policy, detail)]
    if (policy === "SingleStack") return count === 2 ? refuse(`${several} ${many} are specified`) : []
    return count > 0 && count < before ? refuse(`must be 'SingleStack' to release the secondary ${one}`) : []
  })
}
