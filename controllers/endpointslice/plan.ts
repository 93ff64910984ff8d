// Which EndpointSlices to write so that together they hold exactly the wanted endpoints: at most 100 each, with as few
// writes as possible. Pure. Source: k8s.io/endpointslice/reconciler.go.

import type { EndpointSlice } from "../../apimachinery/object.ts"
import { jsonEqual } from "../equality.ts"

export const maxEndpointsPerSlice = 100

export type Endpoint = NonNullable<EndpointSlice["endpoints"]>[number]
export type Ports = NonNullable<EndpointSlice["ports"]>

/** Slices of one address type and one list of ports. */
export interface Wanted {
  addressType: string
  ports: Ports
  endpoints: Endpoint[]
}

export interface Plan {
  create: { addressType: string; ports: Ports; endpoints: Endpoint[] }[]
  update: { slice: EndpointSlice; endpoints: Endpoint[] }[]
  delete: EndpointSlice[]
}

export function plan(wanted: readonly Wanted[], existing: readonly EndpointSlice[]): Plan {
  const result: Plan = { create: [], update: [], delete: [] }
  const groups = new Map(wanted.map((group) => [groupId(group.addressType, group.ports), group]))
  const taken = new Map<string, EndpointSlice[]>()
  for (const slice of existing) {
    const id = groupId(slice.addressType, slice.ports ?? [])
    if (groups.has(id)) taken.set(id, [...(taken.get(id) ?? []), slice])
    else result.delete.push(slice)
  }
  for (const [id, group] of groups) planGroup(group, taken.get(id) ?? [], result)
  return result
}

function planGroup({ addressType, ports, endpoints }: Wanted, slices: readonly EndpointSlice[], result: Plan): void {
  const missing = new Map(endpoints.map((endpoint) => [endpointId(endpoint), endpoint]))
  const kept = slices.map((slice) => {
    const present: Endpoint[] = []
    let changed = false
    for (const endpoint of slice.endpoints ?? []) {
      const now = missing.get(endpointId(endpoint))
      missing.delete(endpointId(endpoint))
      if (now === undefined) changed = true
      else {
        present.push(now)
        changed ||= !jsonEqual(now, endpoint)
      }
    }
    return { slice, endpoints: present, changed }
  })
  const rest = [...missing.values()]
  // Slices that are written anyway take the new ones first; after them the fullest that has room for all.
  for (const target of kept.filter(({ changed }) => changed)) {
    target.endpoints.push(...rest.splice(0, maxEndpointsPerSlice - target.endpoints.length))
  }
  const [fullest] = kept
    .filter((target) => rest.length > 0 && target.endpoints.length + rest.length <= maxEndpointsPerSlice)
    .sort((a, b) => b.endpoints.length - a.endpoints.length)
  if (fullest !== undefined) {
    fullest.endpoints.push(...rest.splice(0))
    fullest.changed = true
  }
  while (rest.length > 0) result.create.push({ addressType, ports, endpoints: rest.splice(0, maxEndpointsPerSlice) })
  const isPlaceholder = endpoints.length === 0
  for (const [index, { slice, endpoints: now, changed }] of kept.entries()) {
    // An empty slice stays only as the placeholder of a Service without endpoints.
    if (now.length === 0 && !(isPlaceholder && index === 0)) result.delete.push(slice)
    else if (changed) result.update.push({ slice, endpoints: now })
  }
  if (isPlaceholder && kept.length === 0) result.create.push({ addressType, ports, endpoints: [] })
}

function groupId(addressType: string, ports: Ports): string {
  const sorted = ports
    .map(
      ({ name = "", port, protocol = "TCP", appProtocol = "" }) => `${name}|${port ?? ""}|${protocol}|${appProtocol}`,
    )
    .sort()
  return `${addressType} ${sorted.join(" ")}`
}

function endpointId({ targetRef, addresses }: Endpoint): string {
  return targetRef?.uid ?? addresses.join(",")
}
