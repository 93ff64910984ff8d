// The order in which surplus pods are deleted: those with the least cost first.
// Source: k8s.io/kubernetes/pkg/controller/controller_utils.go (ActivePodsWithRanks).

import { dictionary } from "../../apimachinery/dictionary.ts"
import type { Pod } from "../../apimachinery/object.ts"
import { isActive, isReady, mostRestarts, mostSidecarRestarts, podCondition } from "../pods/pod-state.ts"

const deletionCostAnnotation = "controller.kubernetes.io/pod-deletion-cost"

const phases: Record<string, number> = dictionary({ Pending: 0, Unknown: 1, Running: 2 })

/** `related`: the pods of all owners with the same owner (the other ReplicaSets of a Deployment). */
export function podsToDelete(active: readonly Pod[], related: readonly Pod[], count: number, now: number): Pod[] {
  if (count >= active.length) return [...active]
  const perNode = new Map<string, number>()
  for (const pod of related) {
    const node = pod.spec?.nodeName ?? ""
    if (node !== "" && isActive(pod)) perNode.set(node, (perNode.get(node) ?? 0) + 1)
  }
  const rank = (pod: Pod): number => perNode.get(pod.spec?.nodeName ?? "") ?? 0
  return [...active].sort((a, b) => compare(a, b, rank, now)).slice(0, count)
}

/** The order for a Job: with a resolution of seconds, and without the deletion cost. Source: controller_utils.go (ActivePods). */
export function jobPodsToDelete(active: readonly Pod[], count: number): Pod[] {
  return [...active].sort((a, b) => decided(a, b, jobCriteria(a, b))).slice(0, count)
}

function jobCriteria(a: Pod, b: Pod): number[] {
  return [
    ...stateCriteria(a, b),
    isReady(a) && isReady(b) ? age(readySince(a)) - age(readySince(b)) : 0,
    ...restartCriteria(a, b),
    age(a.metadata.creationTimestamp) - age(b.metadata.creationTimestamp),
  ]
}

/** Greater for older times; lowest without a time. */
const age = (since: string | null | undefined): number =>
  since === undefined || since === null ? Number.MIN_SAFE_INTEGER : -Date.parse(since)

/** Not scheduled before scheduled, pending before running, not ready before ready. */
function stateCriteria(a: Pod, b: Pod): number[] {
  return [
    Number((a.spec?.nodeName ?? "") !== "") - Number((b.spec?.nodeName ?? "") !== ""),
    (phases[a.status?.phase ?? ""] ?? 0) - (phases[b.status?.phase ?? ""] ?? 0),
    Number(isReady(a)) - Number(isReady(b)),
  ]
}

/** More restarts before fewer: of containers, then of sidecars. */
function restartCriteria(a: Pod, b: Pod): number[] {
  return [mostRestarts(b) - mostRestarts(a), mostSidecarRestarts(b) - mostSidecarRestarts(a)]
}

/** The first criterion that differs decides; pods that are equal in all are ordered randomly. */
function decided(a: Pod, b: Pod, criteria: readonly number[]): number {
  const found = criteria.find((difference) => difference !== 0)
  return found ?? ((a.metadata.uid ?? "") < (b.metadata.uid ?? "") ? -1 : 1)
}

/** Negative if `a` is deleted before `b`. */
function compare(a: Pod, b: Pod, rank: (pod: Pod) => number, now: number): number {
  const criteria = [
    ...stateCriteria(a, b),
    deletionCost(a) - deletionCost(b),
    // Pods on nodes with more related pods first.
    rank(b) - rank(a),
    // Ready for a shorter time first. Ages are compared by order of magnitude, so that similar ages are ordered randomly.
    isReady(a) && isReady(b) ? magnitude(readySince(a), now) - magnitude(readySince(b), now) : 0,
    ...restartCriteria(a, b),
    magnitude(a.metadata.creationTimestamp, now) - magnitude(b.metadata.creationTimestamp, now),
  ]
  return decided(a, b, criteria)
}

function deletionCost(pod: Pod): number {
  const text = pod.metadata.annotations?.[deletionCostAnnotation]
  const cost = text === undefined || !/^(0|-?[1-9][0-9]*)$/.test(text) ? 0 : Number(text)
  return Number.isSafeInteger(cost) ? cost : 0
}

function readySince(pod: Pod): string | undefined {
  return podCondition(pod, "Ready")?.lastTransitionTime
}

/** log2 of the age in nanoseconds, as upstream. Unknown times count as newest. */
function magnitude(since: string | null | undefined, now: number): number {
  const age = since === undefined || since === null ? 0 : now - Date.parse(since)
  return age <= 0 ? 0 : Math.floor(Math.log2(age * 1e6))
}
