// The EndpointSlices that mirror an Endpoints object: one for each list of ports and address type. Pure.
// Source: k8s.io/kubernetes/pkg/controller/endpointslicemirroring/{reconciler,utils}.go.

import { parseLooseAddress, printAddress, unmapped } from "../../apimachinery/addresses.ts"
import { managedByLabel, serviceNameLabel } from "../../apimachinery/core/endpoint-slices.ts"
import type { Endpoints, EndpointSlice, Service } from "../../apimachinery/object.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { controllerReference } from "../pods/pod-control.ts"
import { bare } from "./topology-hints.ts"
import { groupId, listed, type Endpoint, type Ports } from "./plan.ts"
import { repack, type Address, type Subset } from "./repack.ts"
import { familyOf } from "./service-pods.ts"
import { inPlaceOf } from "./slices.ts"
import { triggerTimeAnnotation } from "./trigger-times.ts"

export const managedBy = "endpointslicemirroring-controller.k8s.io"
const skipMirrorLabel = "endpointslice.kubernetes.io/skip-mirror"
const leaderAnnotation = "control-plane.alpha.kubernetes.io/leader"
const notMirrored = new Set([triggerTimeAnnotation, "kubectl.kubernetes.io/last-applied-configuration"])
/** Maximum number of addresses of a subset; the rest is reported and skipped. */
const maxPerSubset = 1000

export interface Mirrored {
  create: EndpointSlice[]
  update: EndpointSlice[]
  delete: EndpointSlice[]
  /** Number of invalid addresses, and number of all skipped addresses. */
  invalid: number
  skipped: number
  limit: number
}

export function isMirrored({ metadata }: Endpoints, service: Service): boolean {
  if (metadata.labels?.[skipMirrorLabel] === "true") return false
  return metadata.annotations?.[leaderAnnotation] === undefined && service.spec?.selector === undefined
}

interface Group {
  addressType: string
  ports: Ports
  endpoints: Map<string, Endpoint>
}

export function mirror(object: Endpoints, existing: readonly EndpointSlice[]): Mirrored {
  const result: Mirrored = { create: [], update: [], delete: [], invalid: 0, skipped: 0, limit: maxPerSubset }
  const groups = new Map<string, Group>()
  for (const subset of repack(object.subsets ?? [])) addSubset(groups, subset, result)
  const left = new Set(existing)
  for (const [id, { addressType, ports, endpoints }] of groups) {
    const [first] = existing.filter((slice) => groupId(slice.addressType, slice.ports ?? []) === id)
    const wanted = sliceOf(object, addressType, ports, [...endpoints.values()].slice(0, maxPerSubset))
    if (first === undefined) result.create.push(wanted)
    else {
      left.delete(first)
      if (!isSame(first, wanted)) {
        const { generateName: _, ...metadata } = wanted.metadata
        result.update.push(inPlaceOf(first, { ...wanted, metadata }))
      }
    }
  }
  for (const slice of left) {
    // A slice to delete is overwritten instead of creating another one.
    const at = result.create.findIndex(({ addressType }) => addressType === slice.addressType)
    const [created] = at < 0 ? [] : result.create.splice(at, 1)
    if (created === undefined) result.delete.push(slice)
    else result.update.push(inPlaceOf(slice, created))
  }
  return result
}

function addSubset(groups: Map<string, Group>, subset: Subset, result: Mirrored): void {
  const ports = (subset.ports ?? []).map(({ name = "", ...port }) => ({ name, ...port }))
  const states: [Address, boolean][] = [
    ...(subset.addresses ?? []).map((address): [Address, boolean] => [address, true]),
    ...(subset.notReadyAddresses ?? []).map((address): [Address, boolean] => [address, false]),
  ]
  let added = 0
  for (const [address, ready] of states) {
    if (added >= maxPerSubset) break
    const parsed = parseLooseAddress(address.ip)
    if (parsed === undefined) {
      result.invalid++
      continue
    }
    // EndpointSlices, unlike Endpoints, must not contain other spellings of an address.
    const ip = printAddress(unmapped(parsed))
    const addressType = familyOf(ip)
    const id = groupId(addressType, ports)
    const group = groups.get(id) ?? { addressType, ports, endpoints: new Map<string, Endpoint>() }
    groups.set(id, group)
    const { targetRef, nodeName, hostname = "" } = address
    group.endpoints.set(`${ip} ${targetRef?.uid ?? ""} ${hostname} ${nodeName ?? ""}`, {
      addresses: [ip],
      conditions: { ready },
      ...(targetRef === undefined ? {} : { targetRef }),
      ...(nodeName === undefined ? {} : { nodeName }),
      ...(hostname === "" ? {} : { hostname }),
    })
    added++
  }
  result.skipped += states.length - added
}

function sliceOf(object: Endpoints, addressType: string, ports: Ports, endpoints: Endpoint[]): EndpointSlice {
  const { name = "", namespace = "", labels, annotations = {} } = object.metadata
  const copied = Object.entries(annotations).filter(([key]) => !notMirrored.has(key))
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      namespace,
      generateName: `${name}-`,
      labels: { ...labels, [serviceNameLabel]: name, [managedByLabel]: managedBy },
      ...(copied.length === 0 ? {} : { annotations: Object.fromEntries(copied) }),
      ownerReferences: [controllerReference(object, { apiVersion: "v1", kind: "Endpoints" })],
    },
    addressType,
    endpoints: listed(endpoints),
    ports: listed(ports),
  }
}

/** As upstream, hints and further owners that others have added remain until something else changes. */
function isSame(slice: EndpointSlice, wanted: EndpointSlice): boolean {
  const byAddress = (list: readonly Endpoint[] | undefined): object[] =>
    [...(list ?? [])].sort((a, b) => (String(a.addresses) < String(b.addresses) ? -1 : 1)).map(bare)
  return (
    equalIgnoringNulls(byAddress(slice.endpoints), byAddress(wanted.endpoints)) &&
    equalIgnoringNulls(slice.metadata.labels, wanted.metadata.labels) &&
    equalIgnoringNulls(slice.metadata.annotations ?? {}, wanted.metadata.annotations ?? {}) &&
    !isOfFormer(slice, wanted)
  )
}

/** It mirrors an Endpoints of the same name that is gone. */
function isOfFormer(slice: EndpointSlice, wanted: EndpointSlice): boolean {
  const [owner] = wanted.metadata.ownerReferences ?? []
  return (slice.metadata.ownerReferences ?? []).some(
    ({ kind, name, uid }) => kind === owner?.kind && name === owner.name && uid !== owner.uid,
  )
}
