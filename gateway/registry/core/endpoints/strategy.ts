// Endpoints. Source: k8s.io/kubernetes/pkg/{apis,registry}/core.

import { type FieldError, FieldPath, required } from "../../../../apimachinery/field-errors.ts"
import {
  validateDNS1123Label,
  validateDNS1123Subdomain,
  validateQualifiedName,
} from "../../../../apimachinery/names.ts"
import type { Endpoints } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { addressWarnings, legacyAddress, reachableAddress } from "../../validation/addresses.ts"
import { messages, oneOf, portNumber } from "../../validation/values.ts"

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
  warnings: (_ctx, endpoints) => (isControlled(endpoints) ? [] : warningsOf(endpoints)),
}

export const endpoints: KindExtension = {
  strategy,
  warning: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
}

/** The controller corrects what it copies, so warnings about these have no reader. */
function isControlled({ metadata }: Endpoints): boolean {
  return metadata.labels?.["endpoints.kubernetes.io/managed-by"] === "endpoint-controller"
}

function warningsOf({ subsets = [] }: Endpoints): string[] {
  return subsets.flatMap((subset, index) =>
    (["addresses", "notReadyAddresses"] as const).flatMap((list) =>
      (subset[list] ?? []).flatMap(({ ip }, place) =>
        addressWarnings(FieldPath.root("subsets").index(index).child(list).index(place).child("ip"), ip ?? ""),
      ),
    ),
  )
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
      // As upstream, an invalid address is reported twice.
      errors.push(...legacyAddress(place.child("ip"), address.ip ?? ""))
      if (address.hostname) {
        errors.push(...messages(place.child("hostname"), address.hostname, validateDNS1123Label(address.hostname)))
      }
      if (address.nodeName !== undefined) {
        errors.push(...messages(place.child("nodeName"), address.nodeName, validateDNS1123Subdomain(address.nodeName)))
      }
      errors.push(...reachableAddress(place.child("ip"), address.ip ?? ""))
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
