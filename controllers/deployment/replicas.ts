// Arithmetic of rollouts. Pure. Source: k8s.io/kubernetes/pkg/controller/deployment/util/deployment_util.go.

import type { Deployment, ReplicaSet } from "../../apimachinery/object.ts"
import { countIn, numberIn, revisionOf } from "./annotations.ts"
import { byCreation } from "./template.ts"

export const desiredReplicasAnnotation = "deployment.kubernetes.io/desired-replicas"
export const maxReplicasAnnotation = "deployment.kubernetes.io/max-replicas"

export const replicasOf = (object: Deployment | ReplicaSet): number => object.spec?.replicas ?? 1
export const isRolling = (deployment: Deployment): boolean => deployment.spec?.strategy?.type !== "Recreate"
export const isActiveSet = (set: ReplicaSet): boolean => replicasOf(set) > 0

export function total(sets: readonly ReplicaSet[], count: (set: ReplicaSet) => number | undefined): number {
  return sets.reduce((sum, set) => sum + (count(set) ?? 0), 0)
}

/** A number, or a percentage of `of`. */
export function scaled(value: number | string | undefined, of: number, roundUp: boolean): number {
  if (value === undefined) return 0
  if (typeof value === "number") return value
  const exact = (Number.parseInt(value, 10) * of) / 100
  return roundUp ? Math.ceil(exact) : Math.floor(exact)
}

function maxSurge(deployment: Deployment): number {
  if (!isRolling(deployment)) return 0
  return scaled(deployment.spec?.strategy?.rollingUpdate?.maxSurge, replicasOf(deployment), true) | 0
}

/** How many pods there may be during a rollout. As upstream, which counts them with 32 bits: more than that are less than none. */
export const mostReplicas = (deployment: Deployment): number => (replicasOf(deployment) + maxSurge(deployment)) | 0

export function maxUnavailable(deployment: Deployment): number {
  const replicas = replicasOf(deployment)
  if (!isRolling(deployment) || replicas === 0) return 0
  const unavailable = scaled(deployment.spec?.strategy?.rollingUpdate?.maxUnavailable, replicas, false)
  // If both were zero after rounding, the rollout could never make a step.
  return Math.min(maxSurge(deployment) === 0 && unavailable === 0 ? 1 : unavailable, replicas)
}

/** The size that the new ReplicaSet may have now. */
export function newSetReplicas(deployment: Deployment, all: readonly ReplicaSet[], newSet: ReplicaSet): number {
  const wanted = replicasOf(deployment)
  if (!isRolling(deployment)) return wanted
  const room = mostReplicas(deployment) - total(all, replicasOf)
  const present = replicasOf(newSet)
  return room <= 0 ? present : present + Math.min(room, wanted - present)
}

/** The steps in which the old sets, identified by index, are scaled down; a set can appear twice. */
export function shrinkingSteps(
  deployment: Deployment,
  newSet: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
): { at: number; size: number }[] {
  const sizes = old.map(replicasOf)
  const before = sizes.reduce((sum, size) => sum + size, 0)
  if (newSet === undefined || before === 0) return []
  const minAvailable = replicasOf(deployment) - maxUnavailable(deployment)
  const available = (set: ReplicaSet): number => set.status?.availableReplicas ?? 0
  const steps: { at: number; size: number }[] = []
  const shrink = (at: number, count: number): void => {
    const size = (sizes[at] ?? 0) - count
    sizes[at] = size
    steps.push({ at, size })
  }
  let allowed = before + replicasOf(newSet) - minAvailable - (replicasOf(newSet) - available(newSet))
  if (allowed <= 0) return []
  // Unavailable pods first, because they would block the rollout.
  for (const [at, set] of old.entries()) {
    const unhealthy = Math.min(allowed, (sizes[at] ?? 0) - available(set))
    if ((sizes[at] ?? 0) === 0 || unhealthy <= 0) continue
    shrink(at, unhealthy)
    allowed -= unhealthy
  }
  let surplus = total([...old, newSet], available) - minAvailable
  for (const [at] of old.entries()) {
    const count = Math.min(surplus, sizes[at] ?? 0)
    if (count <= 0) continue
    shrink(at, count)
    surplus -= count
  }
  return steps
}

/** Whether the set has the Deployment's size, also in its own annotation, and all of its pods are available. */
export function isSaturated(deployment: Deployment, set: ReplicaSet | undefined): boolean {
  if (set === undefined) return false
  const wanted = replicasOf(deployment)
  return (
    replicasOf(set) === wanted &&
    numberIn(set, desiredReplicasAnnotation) === BigInt(wanted) &&
    set.status?.availableReplicas === wanted
  )
}

/** The only active set; the newest if none is active; undefined if several are. */
export function activeOrLatest(newSet: ReplicaSet | undefined, old: readonly ReplicaSet[]): ReplicaSet | undefined {
  const all = newSet === undefined ? [...old] : [...old, newSet]
  const active = all.filter(isActiveSet)
  if (active.length === 1) return active[0]
  if (active.length > 1) return undefined
  return newSet ?? [...old].sort(byCreation).at(-1)
}

/** Distributes a change of size over all active sets in proportion to their sizes. Returns sets and new sizes, largest first. */
export function proportions(deployment: Deployment, active: readonly ReplicaSet[]): [ReplicaSet, number][] {
  const wanted = replicasOf(deployment)
  const allowed = wanted > 0 ? mostReplicas(deployment) : 0
  const change = allowed - total(active, replicasOf)
  // Among sets of equal size, the newer one grows first and the older one shrinks first.
  const sorted = [...active].sort(
    (a, b) => replicasOf(b) - replicasOf(a) || (change < 0 ? byCreation(a, b) : byCreation(b, a)),
  )
  let spread = 0
  const sizes = sorted.map((set): [ReplicaSet, number] => {
    const share = change === 0 ? 0 : proportionOf(deployment, set, change, spread)
    spread += share
    return [set, replicasOf(set) + share]
  })
  const [largest] = sizes
  if (largest !== undefined) largest[1] = Math.max(0, largest[1] + change - spread)
  return sizes
}

function proportionOf(deployment: Deployment, set: ReplicaSet, change: number, spread: number): number {
  const size = replicasOf(set)
  if (size === 0 || change === spread) return 0
  const fraction = fractionOf(deployment, set, size)
  return change > 0 ? Math.min(fraction, change - spread) : Math.max(fraction, change - spread)
}

function fractionOf(deployment: Deployment, set: ReplicaSet, size: number): number {
  const wanted = replicasOf(deployment)
  if (wanted === 0) return -size
  const before = countIn(set, maxReplicasAnnotation) || (deployment.status?.replicas ?? 0)
  if (before === 0) return 0
  const exact = Math.imul(size, mostReplicas(deployment)) / before
  return Math.trunc(exact + Math.sign(exact) / 2) - size
}

/** Oldest revision first. */
function byRevision(a: ReplicaSet, b: ReplicaSet): number {
  const difference = revisionOf(a) - revisionOf(b)
  return difference === 0n ? byCreation(a, b) : difference < 0n ? -1 : 1
}

/** Old sets beyond the history limit: oldest revisions first, and only empty ones. */
export function forgottenSets({ spec }: Deployment, old: readonly ReplicaSet[]): ReplicaSet[] {
  const limit = spec?.revisionHistoryLimit
  if (limit === undefined) return []
  const alive = old.filter((set) => set.metadata.deletionTimestamp === undefined).sort(byRevision)
  return alive.slice(0, Math.max(0, alive.length - limit)).filter((set) => {
    const isSeen = (set.status?.observedGeneration ?? 0) >= (set.metadata.generation ?? 0)
    return (set.status?.replicas ?? 0) === 0 && replicasOf(set) === 0 && isSeen
  })
}
