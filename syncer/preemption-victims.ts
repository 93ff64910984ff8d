// Which pods of a node would have to go for another one, and on which node that is the least harm. Pure.

import type { Node, Pod } from "../apimachinery/object.ts"
import { compareQuantities, parseQuantity, zeroQuantity } from "../apimachinery/quantity.ts"
import { addAmounts, parseAmounts, podAmounts, type Amounts } from "../apimachinery/resource-usage.ts"

export interface Room {
  node: string
  /** The tenant's. */
  victims: readonly Pod[]
}

export interface Candidate {
  node: Node
  /** As super has it. */
  pod: Pod
  /** All on the node, whosever they are, as super has them. */
  there: readonly Pod[]
  /** Those of the tenant that are of lower priority → the tenant's own object. */
  lower: ReadonlyMap<Pod, Pod>
}

export const priorityOf = (pod: Pod): number => pod.spec?.priority ?? 0

/** undefined: taking pods away is no help, or not what it is about. "soon": it fits when those that are leaving have gone. */
export function chooseVictims({ node, pod, there, lower }: Candidate): Room | "soon" | undefined {
  const fits = (left: readonly Pod[]): boolean => fitsBeside(node, pod, left)
  if (fits(there)) return undefined
  const staying = there.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  if (fits(staying)) return "soon"
  let left = staying.filter((one) => !lower.has(one))
  if (!fits(left)) return undefined
  const victims: Pod[] = []
  // The most important come back first.
  const back = staying.filter((one) => lower.has(one)).sort((a, b) => rank(lower.get(b)) - rank(lower.get(a)))
  for (const one of back) {
    const own = lower.get(one)
    if (fits([...left, one])) left = [...left, one]
    else if (own !== undefined) victims.push(own)
  }
  return { node: node.metadata.name ?? "", victims }
}

const rank = (pod: Pod | undefined): number => (pod === undefined ? 0 : priorityOf(pod))

/** As upstream chooses: the lowest of highest priorities, then the smallest sum of them, then the fewest, then the youngest. */
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

function fitsBeside(node: Node, pod: Pod, others: readonly Pod[]): boolean {
  const allocatable = parseAmounts(node.status?.allocatable)
  const one = parseQuantity("1")
  const used = [...others, pod].map((each) => ({ ...requestsOf(each), pods: one })).reduce<Amounts>(addAmounts, {})
  const asked = { ...requestsOf(pod), pods: one }
  for (const [name, amount] of Object.entries(asked)) {
    if (compareQuantities(amount, zeroQuantity) <= 0) continue
    if (compareQuantities(used[name] ?? zeroQuantity, allocatable[name] ?? zeroQuantity) > 0) return false
  }
  return !others.some((other) => hostPorts(other).some((theirs) => hostPorts(pod).some((own) => clash(own, theirs))))
}

const requestsOf = ({ spec }: Pod): Amounts => (spec === undefined ? {} : podAmounts(spec, "requests"))

interface HostPort {
  ip: string
  protocol: string
  port: number
}

function hostPorts({ spec }: Pod): HostPort[] {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].flatMap(({ ports }) =>
    (ports ?? []).flatMap(({ hostPort = 0, hostIP = "", protocol = "TCP" }) =>
      hostPort === 0 ? [] : [{ ip: hostIP === "" ? "0.0.0.0" : hostIP, protocol, port: hostPort }],
    ),
  )
}

function clash(a: HostPort, b: HostPort): boolean {
  const everywhere = a.ip === "0.0.0.0" || b.ip === "0.0.0.0"
  return a.port === b.port && a.protocol === b.protocol && (everywhere || a.ip === b.ip)
}
