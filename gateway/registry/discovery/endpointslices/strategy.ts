// EndpointSlices. Source: k8s.io/kubernetes/pkg/{apis,registry}/discovery.

import { isIPv4, isIPv6 } from "node:net"
import type * as models from "@kubernetes/client-node"
import {
  duplicate,
  type FieldError,
  FieldPath,
  invalidValue,
  required,
  tooMany,
} from "../../../../apimachinery/field-errors.ts"
import {
  validateDNS1123Label,
  validateDNS1123Subdomain,
  validateQualifiedName,
} from "../../../../apimachinery/names.ts"
import type { EndpointSlice, Wire } from "../../../../apimachinery/object.ts"
import { validateReachableIP } from "../../core/services/validate.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { immutableField, semanticEqual } from "../../validation/equality.ts"
import { ipAddress, messages, oneOf } from "../../validation/values.ts"
import { validateHints } from "./hints.ts"

type Endpoint = Wire<models.V1Endpoint>

const maxEndpoints = 1000
const maxAddresses = 100
const maxPorts = 20_000

const strategy: Strategy<EndpointSlice> = {
  generation: true,

  default(slice) {
    for (const port of slice.ports ?? []) {
      port.name ??= ""
      port.protocol ??= "TCP"
    }
    for (const endpoint of slice.endpoints ?? []) endpoint.conditions ??= {}
  },

  prepareForCreate: (_ctx, slice) => dropTopology(slice, undefined),
  prepareForUpdate: (_ctx, slice, current) => dropTopology(slice, current),

  validate: (_ctx, slice) => validate(slice),

  warnings: (_ctx, { addressType }, current) =>
    current === undefined && addressType === "FQDN" ? ["spec.addressType: FQDN endpoints are deprecated"] : [],

  validateUpdate: (_ctx, slice, current) => [
    ...validate(slice),
    ...immutableField(FieldPath.root("addressType"), slice.addressType ?? "", current.addressType),
  ],

  specChanged: (slice, current) =>
    !semanticEqual([slice.ports, slice.endpoints], [current.ports, current.endpoints]) ||
    !semanticEqual(slice.metadata.labels, current.metadata.labels),
}

export const endpointSlices: KindExtension = { strategy }

const hostnameLabel = "kubernetes.io/hostname"

/** v1 knows the topology of v1beta1 no more; a node's name that was known from there moves to where it stands today. */
function dropTopology(slice: EndpointSlice, current: EndpointSlice | undefined): void {
  if (current !== undefined && semanticEqual(current.endpoints, slice.endpoints)) return
  const known = new Set((current?.endpoints ?? []).map(({ deprecatedTopology }) => deprecatedTopology?.[hostnameLabel]))
  for (const endpoint of slice.endpoints ?? []) {
    const name = endpoint.deprecatedTopology?.[hostnameLabel]
    delete endpoint.deprecatedTopology
    if (name === undefined || !known.has(name) || validateDNS1123Subdomain(name).length > 0) continue
    endpoint.nodeName ??= name
  }
}

function validate(slice: EndpointSlice): FieldError[] {
  const errors = oneOf(FieldPath.root("addressType"), slice.addressType, ["FQDN", "IPv4", "IPv6"])
  const ports = slice.ports ?? []
  const names = new Set<string>()
  if (ports.length > maxPorts) errors.push(tooMany(FieldPath.root("ports"), ports.length, maxPorts))
  for (const [index, port] of ports.entries()) {
    const at = FieldPath.root("ports").index(index)
    const name = port.name ?? ""
    if (name !== "") errors.push(...messages(at.child("name"), name, validateDNS1123Label(name)))
    if (names.has(name)) errors.push(duplicate(at.child("name"), name))
    names.add(name)
    errors.push(...oneOf(at.child("protocol"), port.protocol, ["SCTP", "TCP", "UDP"]))
    if (port.appProtocol !== undefined) {
      errors.push(...messages(at.child("appProtocol"), port.appProtocol, validateQualifiedName(port.appProtocol)))
    }
  }
  const endpoints = slice.endpoints ?? []
  if (endpoints.length > maxEndpoints) {
    return [...errors, tooMany(FieldPath.root("endpoints"), endpoints.length, maxEndpoints)]
  }
  for (const [index, endpoint] of endpoints.entries()) {
    errors.push(...validateEndpoint(FieldPath.root("endpoints").index(index), endpoint, slice.addressType))
  }
  return errors
}

function validateEndpoint(at: FieldPath, endpoint: Endpoint, type: string): FieldError[] {
  const addresses = endpoint.addresses ?? []
  const place = at.child("addresses")
  const errors: FieldError[] = []
  if (addresses.length === 0) errors.push(required(place, "must contain at least 1 address"))
  if (addresses.length > maxAddresses) errors.push(tooMany(place, addresses.length, maxAddresses))
  for (const [index, address] of addresses.entries()) {
    if (type === "FQDN") {
      errors.push(...messages(place.index(index), address, validateDNS1123Subdomain(address)))
      continue
    }
    if (type !== "IPv4" && type !== "IPv6") continue
    const faults = ipAddress(place.index(index), address)
    errors.push(...faults)
    if (faults.length > 0) continue
    const fits = type === "IPv4" ? isIPv4(address) : isIPv6(address)
    if (!fits) errors.push(invalidValue(place, address, `must be an ${type} address`))
    errors.push(...validateReachableIP(place.index(index), address))
  }
  if (endpoint.nodeName !== undefined) {
    errors.push(...messages(at.child("nodeName"), endpoint.nodeName, validateDNS1123Subdomain(endpoint.nodeName)))
  }
  if (endpoint.hostname !== undefined) {
    errors.push(...messages(at.child("hostname"), endpoint.hostname, validateDNS1123Label(endpoint.hostname)))
  }
  if (endpoint.hints !== undefined) errors.push(...validateHints(at.child("hints"), endpoint.hints))
  return errors
}
