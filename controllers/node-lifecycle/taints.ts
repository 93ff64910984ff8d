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

const isOfState = ({ key, effect }: Taint): boolean =>
  effect === "NoExecute" && (key === notReady || key === unreachable)

/** Its pods are evicted because it is not ready. */
export const isEvicting = ({ spec }: Node): boolean => (spec?.taints ?? []).some((taint) => isOfState(taint))

/** They are evicted for a state that it is not in. */
export const isEvictingOtherwise = (node: Node): boolean => {
  const key = byCondition["Ready"]?.[readyCondition(node)?.status ?? ""]
  return key !== undefined && (node.spec?.taints ?? []).some((taint) => isOfState(taint) && taint.key !== key)
}

export interface Eviction {
  /** The node's pods are evicted if it is not ready; if it says nothing of that, it keeps what evicts them. */
  evict: boolean
  /** What evicts them is written anew, also if a user wrote it. */
  isNew?: boolean
}

/**
 * The node's taints after each write that is needed. What is new is added before what is old is removed, as upstream: who watches sees both
 * for a moment.
 */
export function taintSteps(node: Node, { evict, isNew = false }: Eviction, now: number): Taint[][] {
  const timeAdded = timestamp(new Date(now))
  const wanted = wantedTaints(node, evict)
  const present = node.spec?.taints ?? []
  const isOurs = (taint: Taint): boolean => {
    if (taint.effect === "NoSchedule") return ofConditions.has(taint.key)
    return isOfState(taint) && !(evict && readyCondition(node) === undefined)
  }
  const isOutdated = (taint: Taint): boolean => isOfState(taint) && isOfUser(taint) && wanted.has(idOf(taint))
  // It is also written anew when it replaces the other.
  const isRenewed = isNew || present.filter((taint) => isOfState(taint)).length > 1
  const outdated = new Set(isRenewed ? present.filter(isOutdated) : [])
  const taints = present.map((taint) =>
    outdated.has(taint) ? { key: taint.key, effect: taint.effect, timeAdded } : taint,
  )
  const kept = taints.filter((taint) => !isOurs(taint) || wanted.delete(idOf(taint)))
  const added = [...wanted.values()].map((taint): Taint => ({ ...taint, timeAdded }))
  const steps: Taint[][] = []
  if (added.length + outdated.size > 0) steps.push([...taints, ...added])
  if (kept.length < taints.length) steps.push([...kept, ...added])
  return steps
}

const idOf = ({ key, effect }: Taint): string => `${key} ${effect}`

/** Written by this controller, it would have a time and no value. */
const isOfUser = ({ value, timeAdded }: Taint): boolean => (value ?? "") !== "" || timeAdded === undefined

function wantedTaints(node: Node, evict: boolean): Map<string, Taint> {
  const wanted = new Map<string, Taint>()
  const want = (key: string, effect: string): unknown => wanted.set(idOf({ key, effect }), { key, effect })
  for (const { type, status } of node.status?.conditions ?? []) {
    const key = byCondition[type]?.[status]
    if (key !== undefined) want(key, "NoSchedule")
  }
  if (node.spec?.unschedulable === true) want(unschedulable, "NoSchedule")
  const ready = readyCondition(node)?.status
  if (evict && ready === "False") want(notReady, "NoExecute")
  if (evict && ready === "Unknown") want(unreachable, "NoExecute")
  return wanted
}
