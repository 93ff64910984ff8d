// Converts endpoints to upstream's canonical form: a port with all addresses that serve it, and ports with the same addresses
// together. Pure. Source: k8s.io/kubernetes/pkg/api/v1/endpoints/util.go, which orders by hashes.

import type { Endpoints } from "../../apimachinery/object.ts"

export type Subset = NonNullable<Endpoints["subsets"]>[number]
export type Address = NonNullable<Subset["addresses"]>[number]
type Port = NonNullable<Subset["ports"]>[number]

interface Answers {
  /** undefined for subsets without ports. */
  port: Port | undefined
  /** Readiness by address. An address that appears twice is ready only if it is ready both times. */
  ready: Map<Address, boolean>
}

export function repack(subsets: readonly Subset[]): Subset[] {
  const groups = new Map<string, Subset>()
  for (const { port, ready } of answersByPort(subsets)) {
    const members = [...ready].sort(([a], [b]) => compareAddresses(a, b))
    const id = JSON.stringify(members)
    const subset = groups.get(id) ?? subsetOf(members)
    groups.set(id, subset)
    if (port !== undefined) subset.ports = [...(subset.ports ?? []), port].sort(byText)
  }
  return [...groups.values()].sort((a, b) => byText(a.ports ?? [], b.ports ?? []))
}

function answersByPort(subsets: readonly Subset[]): Iterable<Answers> {
  const known = new Map<string, Address>()
  const answers = new Map<string, Answers>()
  const add = (address: Address, isReady: boolean, port: Port | undefined): void => {
    const id = `${address.ip} ${address.targetRef?.uid ?? ""}`
    const first = known.get(id) ?? address
    known.set(id, first)
    const portId = port === undefined ? "" : JSON.stringify([port.name, port.port, port.protocol, port.appProtocol])
    const of: Answers = answers.get(portId) ?? { port, ready: new Map() }
    answers.set(portId, of)
    of.ready.set(first, isReady && of.ready.get(first) !== false)
  }
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    for (const port of ports.length === 0 ? [undefined] : ports) {
      for (const address of addresses) add(address, true, port)
      for (const address of notReadyAddresses) add(address, false, port)
    }
  }
  return answers.values()
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

function byText(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1
}
