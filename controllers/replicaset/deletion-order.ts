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
  return firstOf(active, count, (pod) => criteria(pod, perNode.get(pod.spec?.nodeName ?? "") ?? 0, now))
}

/** The order for a Job: with a resolution of seconds, and without the deletion cost. Source: controller_utils.go (ActivePods). */
export function jobPodsToDelete(active: readonly Pod[], count: number): Pod[] {
  return firstOf(active, count, jobCriteria)
}

/** Of a pod, the most important first. Those with the least are deleted first. */
type Criteria = readonly number[]

function firstOf(active: readonly Pod[], count: number, criteriaOf: (pod: Pod) => Criteria): Pod[] {
  if (count <= 0) return []
  const ranked = active.map((pod): [Criteria, Pod] => [criteriaOf(pod), pod])
  return ranked
    .sort(compare)
    .slice(0, count)
    .map(([, pod]) => pod)
}

/** The first criterion that differs decides; pods that are equal in all are ordered randomly. */
function compare([a, one]: readonly [Criteria, Pod], [b, other]: readonly [Criteria, Pod]): number {
  for (let index = 0; index < a.length; index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0)
    if (difference !== 0) return difference
  }
  return (one.metadata.uid ?? "") < (other.metadata.uid ?? "") ? -1 : 1
}

function jobCriteria(pod: Pod): Criteria {
  return [
    ...stateCriteria(pod),
    isReady(pod) ? age(readySince(pod)) : 0,
    ...restartCriteria(pod),
    age(pod.metadata.creationTimestamp),
  ]
}

/** Greater for older times; lowest without a time. */
const age = (since: string | null | undefined): number =>
  since === undefined || since === null ? Number.MIN_SAFE_INTEGER : -Date.parse(since)

/** Not scheduled before scheduled, pending before running, not ready before ready. */
function stateCriteria(pod: Pod): Criteria {
  return [Number((pod.spec?.nodeName ?? "") !== ""), phases[pod.status?.phase ?? ""] ?? 0, Number(isReady(pod))]
}

/** More restarts before fewer: of containers, then of sidecars. */
function restartCriteria(pod: Pod): Criteria {
  return [-mostRestarts(pod), -mostSidecarRestarts(pod)]
}

/** `rank`: the number of related pods on its node. */
function criteria(pod: Pod, rank: number, now: number): Criteria {
  return [
    ...stateCriteria(pod),
    deletionCost(pod),
    // Pods on nodes with more related pods first.
    -rank,
    // Ready for a shorter time first. Ages are compared by order of magnitude, so that similar ages are ordered randomly.
    isReady(pod) ? magnitude(readySince(pod), now) : 0,
    ...restartCriteria(pod),
    magnitude(pod.metadata.creationTimestamp, now),
  ]
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
