// Selects the pods to evict from a node for another pod, and the node where that does the least harm. Pure.

import type { Node, Pod } from "../apimachinery/object.ts"
import { compareQuantities, parseQuantity, zeroQuantity } from "../apimachinery/quantity.ts"
import { addAmounts, parseAmounts, type Amounts } from "../apimachinery/quota/amounts.ts"
import { podAmounts } from "../apimachinery/quota/usage.ts"

export interface Room {
  node: string
  /** The tenant's pods, not their copies. */
  victims: readonly Pod[]
}

interface Candidate {
  node: Node
  /** The pod's super copy. */
  pod: Pod
  /** All super pods on the node, of any tenant. */
  there: readonly Pod[]
  /** The tenant's super pods of lower priority → the tenant's own pods. */
  lower: ReadonlyMap<Pod, Pod>
}

export const priorityOf = (pod: Pod): number => pod.spec?.priority ?? 0

/** undefined: evictions would not help or are not needed. "soon": the pod will fit once the terminating pods are gone. */
export function chooseVictims({ node, pod, there, lower }: Candidate): Room | "soon" | undefined {
  const fits = fitsOn(node, pod, there)
  if (fits(there)) return undefined
  const remaining = there.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  if (fits(remaining)) return "soon"
  let left = remaining.filter((one) => !lower.has(one))
  if (!fits(left)) return undefined
  const victims: Pod[] = []
  // Pods are kept in order of importance as long as the new pod still fits.
  const back = remaining
    .filter((one) => lower.has(one))
    .sort((a, b) => priorityOrZero(lower.get(b)) - priorityOrZero(lower.get(a)))
  for (const one of back) {
    const own = lower.get(one)
    if (fits([...left, one])) left = [...left, one]
    else if (own !== undefined) victims.push(own)
  }
  return { node: node.metadata.name ?? "", victims }
}

const priorityOrZero = (pod: Pod | undefined): number => (pod === undefined ? 0 : priorityOf(pod))

/** Upstream's order: lowest highest priority, then smallest sum of priorities, then fewest victims, then youngest victims. */
export function least(rooms: readonly Room[]): Room | undefined {
  const keys = (room: Room): number[] => {
    const priorities = room.victims.map(priorityOf)
    const highest = Math.max(...priorities)
    const started = room.victims.filter((pod) => priorityOf(pod) === highest).map(startOf)
    return [highest, priorities.reduce((sum, one) => sum + one + 2 ** 31, 0), priorities.length, -Math.min(...started)]
  }
  return rooms
    .map((room) => ({ room, keys: keys(room) }))
    .sort((a, b) => {
      const index = a.keys.findIndex((key, at) => key !== b.keys[at])
      return index < 0 ? 0 : (a.keys[index] ?? 0) - (b.keys[index] ?? 0)
    })[0]?.room
}

const startOf = (pod: Pod): number => Date.parse(pod.status?.startTime ?? pod.metadata.creationTimestamp ?? "") || 0

/** Whether the pod fits on the node with some of the pods there. Each pod is read only once: it may have thousands of containers. */
function fitsOn(node: Node, pod: Pod, there: readonly Pod[]): (left: readonly Pod[]) => boolean {
  const allocatable = parseAmounts(node.status?.allocatable)
  const asked = amountsOf(pod)
  const needed = Object.keys(asked).filter((name) => compareQuantities(asked[name] ?? zeroQuantity, zeroQuantity) > 0)
  const amounts = new Map(there.map((other) => [other, amountsOf(other)]))
  const takesPort = portCheck(pod)
  const inTheWay = new Set(there.filter((other) => hostPorts(other).some(takesPort)))
  return (left) => {
    if (left.some((other) => inTheWay.has(other))) return false
    const used = left.reduce<Amounts>((sum, other) => addAmounts(sum, amounts.get(other) ?? {}), asked)
    return needed.every((name) => compareQuantities(used[name] ?? zeroQuantity, allocatable[name] ?? zeroQuantity) <= 0)
  }
}

function amountsOf({ spec }: Pod): Amounts {
  return { ...(spec === undefined ? {} : podAmounts(spec, "requests")), pods: parseQuantity("1") }
}

interface HostPort {
  ip: string
  protocol: string
  port: number
}

const everywhere = "0.0.0.0"

function hostPorts({ spec }: Pod): HostPort[] {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].flatMap(({ ports }) =>
    (ports ?? []).flatMap(({ hostPort = 0, hostIP = "", protocol = "TCP" }) =>
      hostPort === 0 ? [] : [{ ip: hostIP === "" ? everywhere : hostIP, protocol, port: hostPort }],
    ),
  )
}

/** Whether the pod asks for the same port. */
function portCheck(pod: Pod): (other: HostPort) => boolean {
  const id = ({ protocol, port }: HostPort): string => `${protocol} ${port}`
  const asked = Map.groupBy(hostPorts(pod), id)
  return (other) => {
    const own = asked.get(id(other)) ?? []
    return own.length > 0 && (other.ip === everywhere || own.some(({ ip }) => ip === everywhere || ip === other.ip))
  }
}
