// Scores the nodes that fit: by the pod's preferences first, then by few siblings, then by free resources.

import type { Node } from "../../apimachinery/object.ts"
import { matchesTerm } from "../../apimachinery/core/node-selection.ts"
import type { Candidate } from "./filters.ts"
import type { NodeState } from "./node-state.ts"
import { spreadCounts } from "./topology.ts"

/** A preference of weight 100 counts as much as this many fewer siblings. */
const preferenceWeight = 10

/** Higher is better. Created once per pod, because topology spreading looks at all nodes. */
export function createScore(one: Candidate, states: readonly NodeState[]): (state: NodeState) => number {
  const { pod } = one
  const owner = pod.metadata.ownerReferences?.[0]?.uid
  const soft = (pod.spec?.topologySpreadConstraints ?? [])
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === "ScheduleAnyway")
    .map((constraint) => ({ key: constraint.topologyKey, counts: spreadCounts(constraint, pod, states) }))
  return (state) => {
    const siblings = owner === undefined ? 0 : (state.owners.get(owner) ?? 0)
    let score = preference(one, state.node) - siblings + leastAllocated(one, state)
    for (const { key, counts } of soft) score -= counts.get(state.node.metadata.labels?.[key] ?? "") ?? 0
    return score
  }
}

function preference({ pod, tolerationOf }: Candidate, node: Node): number {
  let score = 0
  const preferred = pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
  for (const { preference: term, weight } of preferred) {
    if (matchesTerm(term, node)) score += (weight / 100) * preferenceWeight
  }
  const avoided = (node.spec?.taints ?? []).filter(
    (taint) => taint.effect === "PreferNoSchedule" && tolerationOf(taint) === undefined,
  )
  return score - avoided.length * preferenceWeight
}

/** Between 0 and 3: the sum of the free shares of cpu, memory and pods. */
function leastAllocated({ requests }: Candidate, state: NodeState): number {
  let free = 0
  for (const name of ["cpu", "memory"]) {
    const allocatable = state.allocatable.get(name) ?? 0
    if (allocatable > 0) free += 1 - ((state.requested.get(name) ?? 0) + (requests.get(name) ?? 0)) / allocatable
  }
  return free + 1 - state.size / Math.max(1, state.allocatable.get("pods") ?? 1)
}
