// Plans the writes of EndpointSlices so that together they contain exactly the desired endpoints: at most 100 per slice, with as
// few writes as possible. Pure. Source: k8s.io/endpointslice/reconciler.go.

import type { EndpointSlice } from "../../apimachinery/object.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"

const maxEndpointsPerSlice = 100

export type Endpoint = NonNullable<EndpointSlice["endpoints"]>[number]
export type Ports = NonNullable<EndpointSlice["ports"]>

/** Endpoints with the same address type and list of ports. */
export interface Wanted {
  addressType: string
  ports: Ports
  endpoints: Endpoint[]
}

export interface Plan {
  create: { addressType: string; ports: Ports; endpoints: Endpoint[] }[]
  /** `ports`: the slice becomes another one, with these. */
  update: { slice: EndpointSlice; endpoints: Endpoint[]; ports?: Ports }[]
  delete: EndpointSlice[]
}

/** Those that remain as they are. There may be as many slices as pods, if a named port is another one in each of them. */
export function slicesWithoutPlan(slices: readonly EndpointSlice[], steps: Plan): EndpointSlice[] {
  const planned = new Set([...steps.delete, ...steps.update.map(({ slice }) => slice)])
  return slices.filter((slice) => !planned.has(slice))
}

/** An empty list as upstream's controllers write it: null, because Go's encoding does not distinguish it from an absent list. */
export function listed<T>(items: readonly T[]): T[] {
  return items.length === 0 ? (null as unknown as T[]) : [...items]
}

interface Kept {
  slice: EndpointSlice
  endpoints: Endpoint[]
  changed: boolean
}

interface Existing {
  owned: readonly EndpointSlice[]
  /** Created by other clients, or for a deleted Service of this name. */
  foreign?: readonly EndpointSlice[]
}

/**
 * `families`: the address families of the Service; each has at least one slice, which may be empty.
 * `isWritten`: this slice is written in any case.
 */
export function plan(
  families: readonly string[],
  wanted: readonly Wanted[],
  { owned, foreign = [] }: Existing,
  isWritten: (slice: EndpointSlice) => boolean = () => false,
): Plan {
  const result: Plan = { create: [], update: [], delete: [] }
  const groups = new Map(wanted.map((group) => [groupId(group.addressType, group.ports), group]))
  const taken = Map.groupBy(owned, ({ addressType, ports }) => {
    const id = groupId(addressType, ports ?? [])
    return groups.has(id) ? id : undefined
  })
  for (const slice of taken.get(undefined) ?? []) result.delete.push(slice)
  for (const [id, group] of groups) planGroup(group, taken.get(id) ?? [], isWritten, result)
  const kept = families.map((addressType) => placeholder(addressType, { owned, foreign }, isWritten, result))
  recycle(result)
  result.delete.push(...foreign.filter((slice) => !kept.includes(slice)))
  return result
}

function planGroup(
  { addressType, ports, endpoints }: Wanted,
  slices: readonly EndpointSlice[],
  isWritten: (slice: EndpointSlice) => boolean,
  result: Plan,
): void {
  const missing = new Map(endpoints.map((endpoint) => [endpointId(endpoint), endpoint]))
  const kept = slices.map((slice): Kept => {
    const present: Endpoint[] = []
    let changed = isWritten(slice)
    for (const endpoint of slice.endpoints ?? []) {
      const now = missing.get(endpointId(endpoint))
      missing.delete(endpointId(endpoint))
      if (now === undefined) changed = true
      else {
        present.push(now)
        changed ||= !equalIgnoringNulls(now, endpoint)
      }
    }
    return { slice, endpoints: present, changed }
  })
  const rest = [...missing.values()]
  // Slices that are written anyway receive the new endpoints first, the fullest ones first.
  const written = kept.filter((target) => target.changed && target.endpoints.length > 0)
  for (const target of written.sort((a, b) => b.endpoints.length - a.endpoints.length)) {
    target.endpoints.push(...rest.splice(0, maxEndpointsPerSlice - target.endpoints.length))
  }
  // Endpoints that do not fill a slice go to the fullest slice with room for all of them.
  while (rest.length > 0) {
    const [fullest] = kept
      .filter((target) => !target.changed && rest.length < maxEndpointsPerSlice)
      .filter((target) => target.endpoints.length + rest.length <= maxEndpointsPerSlice)
      .sort((a, b) => b.endpoints.length - a.endpoints.length)
    const taken = rest.splice(0, maxEndpointsPerSlice)
    if (fullest === undefined) result.create.push({ addressType, ports, endpoints: taken })
    else {
      fullest.endpoints.push(...taken)
      fullest.changed = true
    }
  }
  for (const { slice, endpoints: now, changed } of kept) {
    if (now.length === 0) result.delete.push(slice)
    else if (changed) result.update.push({ slice, endpoints: now })
  }
}

/**
 * A Service without endpoints has one empty slice, so that clients can tell it from one that has not been processed yet. Returns the only
 * slice of this type if it is one already, whoever owns it: after a Service was deleted without its slices, the next one of its name
 * leaves this slice without an owner, as upstream.
 */
function placeholder(
  addressType: string,
  { owned, foreign = [] }: Existing,
  isWritten: (slice: EndpointSlice) => boolean,
  result: Plan,
): EndpointSlice | undefined {
  const isOf = (of: { addressType: string }): boolean => of.addressType === addressType
  const deleted = result.delete.filter(isOf)
  if (owned.filter(isOf).length !== deleted.length || result.create.some(isOf)) return undefined
  const [present, ...others] = [...deleted, ...foreign.filter(isOf)]
  if (present !== undefined && others.length === 0 && isEmpty(present) && !isWritten(present)) {
    result.delete = result.delete.filter((slice) => slice !== present)
    return present
  }
  result.create.push({ addressType, ports: [], endpoints: [] })
  return undefined
}

const isEmpty = ({ ports, endpoints }: EndpointSlice): boolean =>
  (ports ?? []).length === 0 && (endpoints ?? []).length === 0

/** A slice to delete is overwritten instead of creating another one. */
function recycle(result: Plan): void {
  const deleted = result.delete
  result.delete = []
  for (const slice of deleted) {
    const at = result.create.findLastIndex(({ addressType }) => addressType === slice.addressType)
    const [created] = at < 0 ? [] : result.create.splice(at, 1)
    if (created === undefined) result.delete.push(slice)
    else result.update.push({ slice, endpoints: created.endpoints, ports: created.ports })
  }
}

export function groupId(addressType: string, ports: Ports): string {
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
