// Hints of Services in topology mode Auto: endpoints are assigned to zones in proportion to the CPUs of their nodes, so that no
// endpoint gets more than 20% above its share of the traffic; if that is impossible, there are no hints. Pure.
// Source: k8s.io/endpointslice/topologycache.

import type { EndpointSlice, Node } from "../../apimachinery/object.ts"
import { milliValue, parseQuantity } from "../../apimachinery/quantity.ts"
import { zoneLabel } from "./endpoints-of.ts"
import type { Endpoint } from "./plan.ts"

/** Maximum overload of an endpoint, as a fraction of its share. */
const overload = 0.2
const excluded = ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"]

/** Reasons for not adding hints. */
const refusals = {
  noNodes: "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes",
  fewEndpoints: "Insufficient number of endpoints",
  overload: "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold",
  noZone: "One or more endpoints do not have a zone specified",
} as const

/** The fraction of all CPUs in each zone; undefined if nodes do not report CPUs or zones, or there is only one zone. */
export type Shares = ReadonlyMap<string, number>

export function sharesOf(nodes: readonly Node[]): Shares | undefined {
  const processors = new Map<string, number>()
  let total = 0
  for (const { metadata, status } of nodes) {
    if (excluded.some((label) => metadata.labels?.[label] !== undefined)) continue
    if (!status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True")) continue
    const zone = metadata.labels?.[zoneLabel] ?? ""
    const cpu = status.allocatable?.["cpu"]
    const amount = cpu === undefined ? 0 : milliValue(parseQuantity(cpu))
    if (zone === "" || amount === 0) return undefined
    processors.set(zone, (processors.get(zone) ?? 0) + amount)
    total += amount
  }
  if (processors.size < 2) return undefined
  return new Map([...processors].map(([zone, amount]) => [zone, amount / total]))
}

interface Allocation {
  maximum: number
  desired: number
}

type Allocations = ReadonlyMap<string, Allocation>

function allocate(shares: Shares | undefined, count: number): Allocations | string {
  if (shares === undefined) return refusals.noNodes
  const counts = ` (${count} endpoints, ${shares.size} zones)`
  if (shares.size > count) return refusals.fewEndpoints + counts
  const minima = new Map([...shares].map(([zone, share]) => [zone, leastOf(share, count)]))
  const total = [...minima.values()].reduce((sum, minimum) => sum + minimum, 0)
  if (total > count) return refusals.overload + counts
  return new Map(
    [...minima].map(([zone, minimum]) => {
      const desired = Math.max((shares.get(zone) ?? 0) * count, minimum)
      return [zone, { maximum: minimum + count - total, desired }]
    }),
  )
}

/** Slices of one address type. The endpoints of slices to be written have no hints yet. */
interface Slices {
  /** Lists of endpoints that are written; modified in place. */
  written: Endpoint[][]
  /** As they are stored. */
  kept: readonly EndpointSlice[]
}

/** Number of endpoints per zone. */
export type Counts = ReadonlyMap<string, number>

interface Hinted {
  /** Additional slices to write, with their endpoints. */
  also: { slice: EndpointSlice; endpoints: Endpoint[] }[]
  /** The reason for not adding hints. */
  refusal?: string
  counts: Counts
}

const isReady = ({ conditions }: Endpoint): boolean => conditions?.ready !== false

export function addHints(shares: Shares | undefined, { written, kept }: Slices): Hinted {
  const lists = [...written, ...kept.map(({ endpoints }) => endpoints ?? [])]
  const count = lists.flat().filter(isReady).length
  const allocations = allocate(shares, count)
  if (typeof allocations === "string") return { ...withoutHints(kept), refusal: allocations }
  const given = new Map<string, number>()
  const also: Hinted["also"] = []
  for (const slice of kept) {
    const present = hintsOf(slice.endpoints ?? [], given, allocations)
    if (present === undefined) also.push({ slice, endpoints: (slice.endpoints ?? []).map(bare) })
    else for (const [zone, number] of present) given.set(zone, (given.get(zone) ?? 0) + number)
  }
  const open = [...written, ...also.map(({ endpoints }) => endpoints)].flat().filter(isReady)
  if (open.some(({ zone = "" }) => zone === "")) {
    for (const endpoint of open) delete endpoint.hints
    return { ...withoutHints(kept), refusal: refusals.noZone }
  }
  for (const endpoint of open) {
    const { zone = "" } = endpoint
    given.set(zone, (given.get(zone) ?? 0) + 1)
    endpoint.hints = { forZones: [{ name: zone }] }
  }
  redistribute(open, given, ...exchange(allocations, given))
  return { also, counts: given }
}

/** Whether a zone has fewer endpoints than its minimum, so that they would be overloaded. */
export function isOverloaded(shares: Shares | undefined, counts: Counts): boolean {
  if (shares === undefined) return true
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  return [...shares].some(([zone, share]) => (counts.get(zone) ?? 0) < leastOf(share, total))
}

const leastOf = (share: number, total: number): number => Math.ceil((share * total) / (1 + overload))

/** Without its hints. */
export function bare(endpoint: Endpoint): Endpoint {
  const { hints: _, ...others } = endpoint
  return others
}

function withoutHints(kept: readonly EndpointSlice[]): Hinted {
  const hinted = kept.filter(({ endpoints }) => (endpoints ?? []).some(({ hints }) => hints !== undefined))
  return {
    also: hinted.map((slice) => ({ slice, endpoints: (slice.endpoints ?? []).map(bare) })),
    counts: new Map(),
  }
}

/** The number of hints per zone if the slice may keep its hints, or undefined. */
function hintsOf(
  endpoints: readonly Endpoint[],
  given: ReadonlyMap<string, number>,
  allocations: Allocations,
): Map<string, number> | undefined {
  const found = new Map<string, number>()
  for (const endpoint of endpoints.filter(isReady)) {
    const zones = endpoint.hints?.forZones ?? []
    if (zones.length === 0 || zones.some(({ name }) => !allocations.has(name))) return undefined
    for (const { name } of zones) found.set(name, (found.get(name) ?? 0) + 1)
  }
  for (const [zone, number] of found) {
    if (number + (given.get(zone) ?? 0) > (allocations.get(zone)?.maximum ?? 0)) return undefined
  }
  return found
}

/** Number of endpoints that zones give away and receive. */
function exchange(
  allocations: Allocations,
  given: ReadonlyMap<string, number>,
): [giving: Map<string, number>, receiving: Map<string, number>] {
  const over = new Map<string, number>()
  const under = new Map<string, number>()
  for (const [zone, { desired }] of allocations) {
    const difference = (given.get(zone) ?? 0) - desired
    if (difference > 0) over.set(zone, difference)
    else if (difference < 0) under.set(zone, -difference)
  }
  const giving = new Map<string, number>()
  const receiving = new Map<string, number>()
  const places = inTurn(under)
  for (const [index, [from, much]] of inTurn(over).entries()) {
    const [to, little] = places[index] ?? ["", 0]
    if (little < 0.5 || (much < 1 && little < 1)) break
    giving.set(from, (giving.get(from) ?? 0) + 1)
    receiving.set(to, (receiving.get(to) ?? 0) + 1)
  }
  return [giving, receiving]
}

/**
 * The zones in the order in which one that has most is always next, and then has one less; until none has a half. There may be thousands
 * of zones, and of endpoints.
 */
function inTurn(zones: ReadonlyMap<string, number>): [zone: string, number: number][] {
  const turns: [string, number][] = []
  for (const [zone, number] of zones) for (let left = number; left >= 0.5; left--) turns.push([zone, left])
  return turns.sort(([, a], [, b]) => b - a)
}

function redistribute(
  open: readonly Endpoint[],
  given: Map<string, number>,
  giving: Map<string, number>,
  receiving: ReadonlyMap<string, number>,
): void {
  const places = [...receiving].flatMap(([zone, number]) => Array<string>(number).fill(zone))[Symbol.iterator]()
  for (const endpoint of open) {
    const { zone = "" } = endpoint
    const left = giving.get(zone) ?? 0
    if (left === 0) continue
    const next = places.next()
    if (next.done === true) return
    endpoint.hints = { forZones: [{ name: next.value }] }
    giving.set(zone, left - 1)
    given.set(zone, (given.get(zone) ?? 0) - 1)
    given.set(next.value, (given.get(next.value) ?? 0) + 1)
  }
}
