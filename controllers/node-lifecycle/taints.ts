// Computes the taints of a node's state. Pure. Source: k8s.io/kubernetes/pkg/controller/nodelifecycle.

import { dictionary } from "../../apimachinery/dictionary.ts"
import type { Taint } from "../../apimachinery/core/node-selection.ts"
import { timestamp, type Node } from "../../apimachinery/object.ts"

export const prefix = "node.kubernetes.io/"
const notReady = `${prefix}not-ready`
const unreachable = `${prefix}unreachable`
export const outOfService = `${prefix}out-of-service`
const unschedulable = `${prefix}unschedulable`

/** Condition → status → key. */
const byCondition: Readonly<Record<string, Readonly<Record<string, string>>>> = dictionary({
  Ready: dictionary({ False: notReady, Unknown: unreachable }),
  MemoryPressure: dictionary({ True: `${prefix}memory-pressure` }),
  DiskPressure: dictionary({ True: `${prefix}disk-pressure` }),
  NetworkUnavailable: dictionary({ True: `${prefix}network-unavailable` }),
  PIDPressure: dictionary({ True: `${prefix}pid-pressure` }),
})
const ofConditions = new Set([unschedulable, ...Object.values(byCondition).flatMap((keys) => Object.values(keys))])

type NodeCondition = NonNullable<NonNullable<Node["status"]>["conditions"]>[number]

export const readyCondition = (node: Node): NodeCondition | undefined =>
  node.status?.conditions?.find(({ type }) => type === "Ready")

/** Its pods are evicted because it is not ready. */
export const isEvicting = ({ spec }: Node): boolean =>
  (spec?.taints ?? []).some(({ key, effect }) => effect === "NoExecute" && (key === notReady || key === unreachable))

/**
 * The node's taints after each write that is needed. What is new is added before what is old is removed, as upstream: who watches sees both
 * for a moment. `evict`: its pods are evicted if it is not ready; if it says nothing of that, it keeps what evicts them.
 */
export function taintSteps(node: Node, evict: boolean, now: number): Taint[][] {
  const taints = node.spec?.taints ?? []
  const wanted = new Map<string, string>()
  for (const { type, status } of node.status?.conditions ?? []) {
    const key = byCondition[type]?.[status]
    if (key !== undefined) wanted.set(`${key} NoSchedule`, key)
  }
  if (node.spec?.unschedulable === true) wanted.set(`${unschedulable} NoSchedule`, unschedulable)
  const ready = readyCondition(node)?.status
  if (evict && ready === "False") wanted.set(`${notReady} NoExecute`, notReady)
  if (evict && ready === "Unknown") wanted.set(`${unreachable} NoExecute`, unreachable)
  const isOurs = ({ key, effect }: Taint): boolean => {
    if (effect === "NoSchedule") return ofConditions.has(key)
    return effect === "NoExecute" && [notReady, unreachable].includes(key) && !(evict && ready === undefined)
  }
  const kept = taints.filter((taint) => !isOurs(taint) || wanted.delete(`${taint.key} ${taint.effect}`))
  const timeAdded = timestamp(new Date(now))
  const added = [...wanted].map(([id, key]) => ({ key, effect: id.slice(key.length + 1), timeAdded }) as Taint)
  const steps: Taint[][] = []
  if (added.length > 0) steps.push([...taints, ...added])
  if (kept.length < taints.length) steps.push([...kept, ...added])
  return steps
}
