// Converts endpoints to upstream's canonical form: a port with all addresses that serve it, and ports with the same addresses
// together. Pure. Source: k8s.io/kubernetes/pkg/api/v1/endpoints/util.go, which orders by hashes.

import type { Endpoints } from "../../apimachinery/object.ts"

export type Subset = NonNullable<Endpoints["subsets"]>[number]
export type Address = NonNullable<Subset["addresses"]>[number]
type Port = NonNullable<Subset["ports"]>[number]

/**
 * Limit of the addresses of all ports together, of which those with the same subsets count once. Subsets that overlap in many ways
 * mean more than can be written: a body has room for billions.
 */
const maxMembers = 200_000

/** Ports that are in the same subsets, and so have the same addresses. */
interface Alike {
  /** Empty for subsets without ports. */
  ports: Port[]
  /** Indexes of the subsets. */
  places: readonly number[]
}

interface RepackOptions {
  /**
   * As they were read. Upstream compares where an appProtocol is kept, and so does not recognize a port that has one in another subset;
   * those that it makes of a Service's port have that port's.
   */
  areRead?: boolean
}

/** undefined: there are too many addresses. */
export function repack(subsets: readonly Subset[], { areRead = false }: RepackOptions = {}): Subset[] | undefined {
  const alike = alikeIn(subsets, areRead)
  const sizes = subsets.map(({ addresses = [], notReadyAddresses = [] }) => addresses.length + notReadyAddresses.length)
  let members = 0
  for (const { places } of alike) for (const place of places) members += sizes[place] ?? 0
  if (members > maxMembers) return undefined
  const known = new Map<string, Address>()
  const groups = new Map<string, { subset: Subset; ports: Port[] }>()
  for (const { ports, places } of alike) {
    const of = [...membersOf(subsets, places, known)].sort(([a], [b]) => compareAddresses(a, b))
    // Of one group, nothing has to be compared.
    const id = alike.length === 1 ? "" : JSON.stringify(of)
    const group = groups.get(id)
    if (group === undefined) groups.set(id, { subset: subsetOf(of), ports })
    else for (const port of ports) group.ports.push(port)
  }
  const packed = [...groups.values()].map(({ subset, ports }) =>
    ports.length === 0 ? subset : { ...subset, ports: sortedByText(ports, (port) => port) },
  )
  return sortedByText(packed, ({ ports = [] }) => ports)
}

function alikeIn(subsets: readonly Subset[], areRead: boolean): readonly Alike[] {
  const found = new Map<string, { port: Port | undefined; places: number[] }>()
  for (const [place, { ports = [] }] of subsets.entries()) {
    for (const [index, port] of ports.length === 0 ? [[0, undefined] as const] : ports.entries()) {
      const { name, port: number, protocol, appProtocol } = port ?? {}
      const kept = appProtocol !== undefined && areRead ? [appProtocol, place, index] : [appProtocol]
      const id = port === undefined ? "" : JSON.stringify([name, number, protocol, ...kept])
      const of = found.get(id)
      if (of === undefined) found.set(id, { port, places: [place] })
      else if (of.places.at(-1) !== place) of.places.push(place)
    }
  }
  const alike = new Map<string, Alike>()
  for (const { port, places } of found.values()) {
    const id = places.join()
    const of = alike.get(id) ?? { ports: [], places }
    alike.set(id, of)
    if (port !== undefined) of.ports.push(port)
  }
  return [...alike.values()]
}

/** Readiness by address. An address that appears twice is ready only if it is ready both times. */
function membersOf(
  subsets: readonly Subset[],
  places: readonly number[],
  known: Map<string, Address>,
): Map<Address, boolean> {
  const ready = new Map<Address, boolean>()
  const add = (address: Address, isReady: boolean): void => {
    const id = `${address.ip} ${address.targetRef?.uid ?? ""}`
    const first = known.get(id) ?? address
    known.set(id, first)
    ready.set(first, isReady && ready.get(first) !== false)
  }
  for (const place of places) {
    const { addresses = [], notReadyAddresses = [] } = subsets[place] ?? {}
    for (const address of addresses) add(address, true)
    for (const address of notReadyAddresses) add(address, false)
  }
  return ready
}

function subsetOf(members: readonly [Address, boolean][]): Subset {
  const which = (wanted: boolean): Address[] => members.flatMap(([address, is]) => (is === wanted ? [address] : []))
  const [addresses, notReadyAddresses] = [which(true), which(false)]
  return {
    ...(addresses.length === 0 ? {} : { addresses }),
    ...(notReadyAddresses.length === 0 ? {} : { notReadyAddresses }),
  }
}

function compareAddresses(a: Address, b: Address): number {
  if (a.ip !== b.ip) return a.ip < b.ip ? -1 : 1
  return (a.targetRef?.uid ?? "") < (b.targetRef?.uid ?? "") ? -1 : 1
}

function sortedByText<T>(items: readonly T[], valueOf: (item: T) => unknown): T[] {
  return items
    .map((item): [string, T] => [JSON.stringify(valueOf(item)), item])
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, item]) => item)
}
