// The EndpointSlices that mirror an Endpoints object: one for each list of ports and address type. Pure.
// Source: k8s.io/kubernetes/pkg/controller/endpointslicemirroring/{reconciler,utils}.go.

import { managedByLabel, serviceNameLabel } from "../../apimachinery/core/endpoint-slices.ts"
import type { Endpoints, EndpointSlice, Service } from "../../apimachinery/object.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { canonicalAddress, familyOf } from "../canonical-address.ts"
import { controllerReference } from "../pods/pod-control.ts"
import { bare } from "./topology-hints.ts"
import { groupId, listed, type Endpoint, type Ports } from "./plan.ts"
import { repack, type Address, type Subset } from "./repack.ts"
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

/** undefined: its subsets mean too many addresses, and nothing is mirrored. */
export function mirror(object: Endpoints, existing: readonly EndpointSlice[]): Mirrored | undefined {
  const result: Mirrored = { create: [], update: [], delete: [], invalid: 0, skipped: 0, limit: maxPerSubset }
  const groups = new Map<string, Group>()
  const subsets = repack(object.subsets ?? [], { areRead: true })
  if (subsets === undefined) return undefined
  for (const subset of subsets) addSubset(groups, subset, result)
  const present = Map.groupBy(existing, (slice) => groupId(slice.addressType, slice.ports ?? []))
  const left = new Set(existing)
  for (const [id, { addressType, ports, endpoints }] of groups) {
    const [first] = present.get(id) ?? []
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
  recycle(left, result)
  return result
}

/** A slice to delete is overwritten instead of creating another one. */
function recycle(left: Iterable<EndpointSlice>, result: Mirrored): void {
  const created = Map.groupBy(result.create.toReversed(), ({ addressType }) => addressType)
  for (const slice of left) {
    const wanted = created.get(slice.addressType)?.pop()
    if (wanted === undefined) result.delete.push(slice)
    else result.update.push(inPlaceOf(slice, wanted))
  }
  const others = new Set([...created.values()].flat())
  result.create = result.create.filter((wanted) => others.has(wanted))
}

function addSubset(groups: Map<string, Group>, subset: Subset, result: Mirrored): void {
  const ports = (subset.ports ?? []).map(({ name = "", ...port }) => ({ name, ...port }))
  const ofFamily = new Map<string, Group>()
  const states: [Address, boolean][] = [
    ...(subset.addresses ?? []).map((address): [Address, boolean] => [address, true]),
    ...(subset.notReadyAddresses ?? []).map((address): [Address, boolean] => [address, false]),
  ]
  let added = 0
  for (const [address, ready] of states) {
    if (added >= maxPerSubset) break
    const ip = canonicalAddress(address.ip)
    if (ip === undefined) {
      result.invalid++
      continue
    }
    const addressType = familyOf(ip)
    const group = ofFamily.get(addressType) ?? groupOf(groups, addressType, ports)
    ofFamily.set(addressType, group)
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

function groupOf(groups: Map<string, Group>, addressType: string, ports: Ports): Group {
  const id = groupId(addressType, ports)
  const group = groups.get(id) ?? { addressType, ports, endpoints: new Map<string, Endpoint>() }
  groups.set(id, group)
  return group
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
