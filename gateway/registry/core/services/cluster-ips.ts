// Validates the addresses and families that a Service requests. Source: k8s.io/kubernetes/pkg/apis/core/validation.

import { duplicate, type FieldError, FieldPath, invalidValue, required } from "../../../../apimachinery/field-errors.ts"
import type { Service } from "../../../../apimachinery/object.ts"
import { repeats } from "../../../../apimachinery/repeats.ts"
import { isIPv6Address, legacyAddress } from "../../validation/addresses.ts"
import { optionalOneOf } from "../../validation/values.ts"
import { familyFaults } from "./families.ts"
import { isHeadless, type ServiceSpec, specOf } from "./needs.ts"

const path = FieldPath.root("spec")

/** Upstream allocates before it validates the rest, so that only errors of the addresses are reported. */
export function validateAddresses(service: Service, current: Service | undefined): FieldError[] {
  const spec = specOf(service)
  const addresses = validateClusterIPs(spec, new Set(current?.spec?.clusterIPs))
  return addresses.length > 0 ? addresses : familyFaults(spec, current?.spec)
}

/** `kept`: its current addresses. */
export function validateClusterIPs(spec: ServiceSpec, kept: ReadonlySet<string>): FieldError[] {
  if (spec.type === "ExternalName") return []
  const { clusterIP, clusterIPs = [], ipFamilies = [] } = spec
  const at = path.child("clusterIPs")
  const errors: FieldError[] = []
  if (clusterIP && clusterIPs.length === 0) errors.push(required(at))
  else if (clusterIP && clusterIPs[0] !== clusterIP) {
    errors.push(invalidValue(at, clusterIPs, "first value must match `clusterIP`"))
  } else if (!clusterIP && clusterIPs.length > 0) {
    errors.push(invalidValue(at, clusterIPs, "must be empty when `clusterIP` is not specified"))
  }
  const repeated = repeats(ipFamilies)
  for (const [index, family] of ipFamilies.entries()) {
    errors.push(...optionalOneOf(path.child("ipFamilies").index(index), family, ["IPv4", "IPv6"]))
    if (repeated.has(index)) errors.push(duplicate(path.child("ipFamilies").index(index), family))
  }
  errors.push(
    ...optionalOneOf(path.child("ipFamilyPolicy"), spec.ipFamilyPolicy, [
      "PreferDualStack",
      "RequireDualStack",
      "SingleStack",
    ]),
  )
  const faults = clusterIPs.flatMap((address, index) => {
    if (index > 0 || address !== "None") return legacyAddress(at.index(index), address, kept)
    return clusterIPs.length > 1 ? [invalidValue(at, clusterIPs, "'None' must be the first and only value")] : []
  })
  errors.push(...faults)
  if (clusterIPs.length > 2) errors.push(invalidValue(at, clusterIPs, "may only hold up to 2 values"))
  return faults.length > 0 || isHeadless(spec) ? errors : [...errors, ...validateFamilies(clusterIPs, ipFamilies)]
}

function validateFamilies(clusterIPs: readonly string[], families: readonly string[]): FieldError[] {
  const at = path.child("clusterIPs")
  const errors: FieldError[] = []
  if (clusterIPs.length === 2 && isIPv6Address(clusterIPs[0] ?? "") === isIPv6Address(clusterIPs[1] ?? "")) {
    errors.push(invalidValue(at, clusterIPs, "may specify no more than one IP for each IP family"))
  }
  for (const [index, address] of clusterIPs.entries()) {
    const family = families[index]
    const actual = isIPv6Address(address) ? "IPv6" : "IPv4"
    if (family === actual || (family !== "IPv4" && family !== "IPv6")) continue
    errors.push(
      invalidValue(at.index(index), address, `expected an ${family} value as indicated by \`ipFamilies[${index}]\``),
    )
  }
  return errors
}
