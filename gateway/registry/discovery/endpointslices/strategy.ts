// EndpointSlices. Source: k8s.io/kubernetes/pkg/{apis,registry}/discovery.

import type * as models from "@kubernetes/client-node"
import { managedByLabel } from "../../../../apimachinery/core/endpoint-slices.ts"
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
import type { KindExtension, Strategy } from "../../strategy.ts"
import {
  addressWarnings,
  isIPv6Address,
  legacyAddress,
  reachableAddress,
  strictAddress,
} from "../../validation/addresses.ts"
import { immutableFields, semanticEqual } from "../../validation/equality.ts"
import { messages, oneOf, optionalOneOf } from "../../validation/values.ts"
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

  // Counted here and not in specChanged, because upstream compares before it drops the topology.
  prepareForUpdate(_ctx, slice, current) {
    if (isChanged(slice, current)) slice.metadata.generation = (current.metadata.generation ?? 0) + 1
    dropTopology(slice, current)
  },
  specChanged: () => false,

  validate: (_ctx, slice) => validate(slice, undefined),

  warnings: (_ctx, slice, current) => [
    ...(current === undefined && slice.addressType === "FQDN"
      ? ["spec.addressType: FQDN endpoints are deprecated"]
      : []),
    ...(isControlled(slice) ? [] : warningsOf(slice)),
  ],

  validateUpdate: (_ctx, slice, current) => [
    ...validate(slice, current),
    ...immutableFields(FieldPath.root(), { ...slice, addressType: slice.addressType ?? "" }, current, ["addressType"]),
  ],
}

export const endpointSlices: KindExtension = { strategy }

function isChanged(slice: EndpointSlice, current: EndpointSlice): boolean {
  return (
    !semanticEqual([slice.ports, slice.endpoints], [current.ports, current.endpoints]) ||
    !semanticEqual(slice.metadata.labels, current.metadata.labels)
  )
}

const controllers = ["endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"]

/** Slices of controllers get no warnings: the controllers correct what they copy, and do not read warnings. */
function isControlled({ metadata }: EndpointSlice): boolean {
  return controllers.includes(metadata.labels?.[managedByLabel] ?? "")
}

function warningsOf({ endpoints = [] }: EndpointSlice): string[] {
  return endpoints.flatMap(({ addresses }, index) =>
    addresses.flatMap((address, place) =>
      addressWarnings(FieldPath.root("endpoints").index(index).child("addresses").index(place), address),
    ),
  )
}

const hostnameLabel = "kubernetes.io/hostname"

/** v1 has no field for the topology of v1beta1; a node name that was already there moves to the current field. */
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

function validate(slice: EndpointSlice, current: EndpointSlice | undefined): FieldError[] {
  const errors = [
    ...oneOf(FieldPath.root("addressType"), slice.addressType, ["FQDN", "IPv4", "IPv6"]),
    ...validatePorts(slice.ports ?? []),
  ]
  const faults = validateEndpoints(slice)
  // Existing values may conform to older rules.
  return faults.length > 0 && current !== undefined && semanticEqual(current.endpoints, slice.endpoints)
    ? errors
    : [...errors, ...faults]
}

function validatePorts(ports: NonNullable<EndpointSlice["ports"]>): FieldError[] {
  if (ports.length > maxPorts) return [tooMany(FieldPath.root("ports"), ports.length, maxPorts)]
  const errors: FieldError[] = []
  const names = new Set<string>()
  for (const [index, port] of ports.entries()) {
    const at = FieldPath.root("ports").index(index)
    const name = port.name ?? ""
    if (name !== "") errors.push(...messages(at.child("name"), name, validateDNS1123Label(name)))
    if (names.has(name)) errors.push(duplicate(at.child("name"), name))
    names.add(name)
    errors.push(...optionalOneOf(at.child("protocol"), port.protocol, ["SCTP", "TCP", "UDP"]))
    if (port.appProtocol !== undefined) {
      errors.push(...messages(at.child("appProtocol"), port.appProtocol, validateQualifiedName(port.appProtocol)))
    }
  }
  return errors
}

function validateEndpoints({ endpoints = [], addressType }: EndpointSlice): FieldError[] {
  const at = FieldPath.root("endpoints")
  if (endpoints.length > maxEndpoints) return [tooMany(at, endpoints.length, maxEndpoints)]
  return endpoints.flatMap((endpoint, index) => validateEndpoint(at.index(index), endpoint, addressType))
}

function validateEndpoint(at: FieldPath, endpoint: Endpoint, type: string): FieldError[] {
  const addresses = endpoint.addresses ?? []
  const place = at.child("addresses")
  const errors: FieldError[] = []
  if (addresses.length === 0) errors.push(required(place, "must contain at least 1 address"))
  if (addresses.length > maxAddresses) errors.push(tooMany(place, addresses.length, maxAddresses))
  for (const [index, address] of addresses.entries()) errors.push(...validateAddress(place, index, address, type))
  if (endpoint.nodeName !== undefined) {
    errors.push(...messages(at.child("nodeName"), endpoint.nodeName, validateDNS1123Subdomain(endpoint.nodeName)))
  }
  if (endpoint.hostname !== undefined) {
    errors.push(...messages(at.child("hostname"), endpoint.hostname, validateDNS1123Label(endpoint.hostname)))
  }
  if (endpoint.hints !== undefined) errors.push(...validateHints(at.child("hints"), endpoint.hints))
  return errors
}

function validateAddress(list: FieldPath, index: number, address: string, type: string): FieldError[] {
  const at = list.index(index)
  if (type === "FQDN") return qualifiedName(at, address)
  if (type !== "IPv4" && type !== "IPv6") return []
  const faults = type === "IPv4" ? legacyAddress(at, address) : strictAddress(at, address)
  if (faults.length > 0) return faults
  const fits = isIPv6Address(address) === (type === "IPv6")
  return [
    ...(fits ? [] : [invalidValue(list, address, `must be an ${type} address`)]),
    ...reachableAddress(at, address),
  ]
}

/** Source: IsFullyQualifiedDomainName upstream. */
function qualifiedName(at: FieldPath, given: string): FieldError[] {
  if (given === "") return [required(at)]
  const name = given.replace(/\.$/, "")
  const faults = validateDNS1123Subdomain(name)
  if (faults.length > 0) return [invalidValue(at, name, faults.join(","))]
  const labels = name.split(".")
  if (labels.length < 2)
    return [invalidValue(at, name, "should be a domain with at least two segments separated by dots")]
  const bad = labels.find((label) => validateDNS1123Label(label).length > 0)
  return bad === undefined ? [] : [invalidValue(at, bad, validateDNS1123Label(bad).join(","))]
}
