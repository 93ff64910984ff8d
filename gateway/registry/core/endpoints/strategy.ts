// Endpoints. Source: k8s.io/kubernetes/pkg/{apis,registry}/core.

import { type FieldError, FieldPath, invalidValue, required } from "../../../../apimachinery/field-errors.ts"
import {
  validateDNS1123Label,
  validateDNS1123Subdomain,
  validateQualifiedName,
} from "../../../../apimachinery/names.ts"
import type { Endpoints } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { ipAddress, messages, oneOf, portNumber } from "../../validation/values.ts"
import { validateReachableIP } from "../services/validate.ts"

type Subset = NonNullable<Endpoints["subsets"]>[number]

const strategy: Strategy<Endpoints> = {
  generation: false,
  allowCreateOnUpdate: true,

  default(endpoints) {
    for (const subset of endpoints.subsets ?? []) {
      for (const port of subset.ports ?? []) port.protocol = port.protocol || "TCP"
    }
  },

  validate: (_ctx, endpoints) => validate(endpoints),
  validateUpdate: (_ctx, endpoints) => validate(endpoints),
}

export const endpoints: KindExtension = {
  strategy,
  warning: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
}

function validate(endpoints: Endpoints): FieldError[] {
  return (endpoints.subsets ?? []).flatMap((subset, index) =>
    validateSubset(FieldPath.root("subsets").index(index), subset),
  )
}

function validateSubset(at: FieldPath, subset: Subset): FieldError[] {
  const errors: FieldError[] = []
  if ((subset.addresses ?? []).length === 0 && (subset.notReadyAddresses ?? []).length === 0) {
    errors.push(required(at, "must specify `addresses` or `notReadyAddresses`"))
  }
  for (const list of ["addresses", "notReadyAddresses"] as const) {
    for (const [index, address] of (subset[list] ?? []).entries()) {
      const place = at.child(list).index(index)
      const faults = ipAddress(place.child("ip"), address.ip ?? "")
      errors.push(...faults)
      // Upstream finds this out twice.
      if (faults.length > 0)
        errors.push(invalidValue(place.child("ip"), address.ip ?? "", "must be a valid IP address"))
      else errors.push(...validateReachableIP(place.child("ip"), address.ip))
      if (address.hostname) {
        errors.push(...messages(place.child("hostname"), address.hostname, validateDNS1123Label(address.hostname)))
      }
      if (address.nodeName !== undefined) {
        errors.push(...messages(place.child("nodeName"), address.nodeName, validateDNS1123Subdomain(address.nodeName)))
      }
    }
  }
  const ports = subset.ports ?? []
  for (const [index, port] of ports.entries()) {
    const place = at.child("ports").index(index)
    if (port.name) errors.push(...messages(place.child("name"), port.name, validateDNS1123Label(port.name)))
    else if (ports.length > 1) errors.push(required(place.child("name")))
    errors.push(...portNumber(place.child("port"), port.port ?? 0))
    errors.push(...oneOf(place.child("protocol"), port.protocol, ["SCTP", "TCP", "UDP"]))
    if (port.appProtocol !== undefined) {
      errors.push(...messages(place.child("appProtocol"), port.appProtocol, validateQualifiedName(port.appProtocol)))
    }
  }
  return errors
}
