// Status and conditions of a Deployment, from its ReplicaSets. Pure.
// Source: k8s.io/kubernetes/pkg/controller/deployment/{sync,progress}.go.

import { timestamp, type Deployment, type ReplicaSet } from "../../apimachinery/object.ts"
import { findCondition, withCondition, withoutCondition } from "../conditions.ts"
import { maxUnavailable, replicasOf, total } from "./replicas.ts"

export type DeploymentStatus = NonNullable<Deployment["status"]>
type DeploymentCondition = NonNullable<DeploymentStatus["conditions"]>[number]

/** The maximum deadline means none. */
const noDeadline = 2 ** 31 - 1

export function progressDeadlineSeconds(deployment: Deployment): number | undefined {
  const seconds = deployment.spec?.progressDeadlineSeconds
  return seconds === undefined || seconds === noDeadline ? undefined : seconds
}

export function condition(
  type: string,
  status: string,
  reason: string,
  message: string,
  now: number,
): DeploymentCondition {
  const at = timestamp(new Date(now))
  return { type, status, reason, message, lastUpdateTime: at, lastTransitionTime: at }
}

export function withStatusCondition(status: DeploymentStatus, added: DeploymentCondition): DeploymentStatus {
  return { ...status, conditions: withCondition(status.conditions, added) }
}

/** Counts and the Available condition; Progressing is set by {@link rolloutStatus}. */
export function countedStatus(
  deployment: Deployment,
  all: readonly ReplicaSet[],
  newSet: ReplicaSet | undefined,
  now: number,
): DeploymentStatus {
  const available = total(all, (set) => set.status?.availableReplicas)
  const unavailable = Math.max(0, total(all, replicasOf) - available)
  const updated = newSet?.status?.replicas ?? 0
  const replicas = total(all, (set) => set.status?.replicas)
  const ready = total(all, (set) => set.status?.readyReplicas)
  const terminating = terminatingReplicas(all)
  const enough = available >= replicasOf(deployment) - maxUnavailable(deployment)
  const conditions = withCondition(
    deployment.status?.conditions,
    enough
      ? condition("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.", now)
      : condition(
          "Available",
          "False",
          "MinimumReplicasUnavailable",
          "Deployment does not have minimum availability.",
          now,
        ),
  )
  const collisionCount = deployment.status?.collisionCount
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    ...(replicas === 0 ? {} : { replicas }),
    ...(updated === 0 ? {} : { updatedReplicas: updated }),
    ...(ready === 0 ? {} : { readyReplicas: ready }),
    ...(available === 0 ? {} : { availableReplicas: available }),
    ...(unavailable === 0 ? {} : { unavailableReplicas: unavailable }),
    ...(terminating === undefined ? {} : { terminatingReplicas: terminating }),
    ...(collisionCount === undefined ? {} : { collisionCount }),
    conditions,
  }
}

/** undefined if an observed set does not report the number. */
function terminatingReplicas(all: readonly ReplicaSet[]): number | undefined {
  let sum = 0
  for (const { status } of all) {
    if (status?.terminatingReplicas !== undefined) sum += status.terminatingReplicas
    else if ((status?.observedGeneration ?? 0) !== 0) return undefined
  }
  return sum
}

export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const wanted = replicasOf(deployment)
  return (
    (status.updatedReplicas ?? 0) === wanted &&
    (status.replicas ?? 0) === wanted &&
    (status.availableReplicas ?? 0) === wanted &&
    (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  )
}

/** The complete status during and after a rollout. */
export function rolloutStatus(
  deployment: Deployment,
  all: readonly ReplicaSet[],
  newSet: ReplicaSet | undefined,
  now: number,
): DeploymentStatus {
  let status = countedStatus(deployment, all, newSet, now)
  const deadline = progressDeadlineSeconds(deployment)
  if (deadline === undefined) status = { ...status, conditions: withoutCondition(status.conditions, "Progressing") }
  else status = withProgress(deployment, status, newSet, deadline, now)
  const sets = newSet === undefined ? all : [newSet, ...all]
  const failure = sets.map((set) => findCondition(set.status?.conditions, "ReplicaFailure")).find(Boolean)
  if (failure === undefined) return { ...status, conditions: withoutCondition(status.conditions, "ReplicaFailure") }
  const { type, status: value, reason, message, lastTransitionTime } = failure
  return withStatusCondition(status, {
    ...condition(type, value, reason ?? "", message ?? "", now),
    ...(lastTransitionTime === undefined ? {} : { lastTransitionTime, lastUpdateTime: lastTransitionTime }),
  })
}

function withProgress(
  deployment: Deployment,
  status: DeploymentStatus,
  newSet: ReplicaSet | undefined,
  deadlineSeconds: number,
  now: number,
): DeploymentStatus {
  const current = findCondition(deployment.status?.conditions, "Progressing")
  const isSettled =
    (status.replicas ?? 0) === (status.updatedReplicas ?? 0) && current?.reason === "NewReplicaSetAvailable"
  if (isSettled) return status
  const subject =
    newSet === undefined
      ? `Deployment "${deployment.metadata.name ?? ""}"`
      : `ReplicaSet "${newSet.metadata.name ?? ""}"`
  const progressing = (value: string, reason: string, tail: string): DeploymentCondition =>
    condition("Progressing", value, reason, `${subject} ${tail}`, now)
  if (isComplete(deployment, status)) {
    return withStatusCondition(status, progressing("True", "NewReplicaSetAvailable", "has successfully progressed."))
  }
  if (madeProgress(deployment.status ?? {}, status)) {
    // The deadline starts again now, so the condition is replaced even if its reason is unchanged.
    const added = progressing("True", "ReplicaSetUpdated", "is progressing.")
    const since = current?.status === "True" ? current.lastTransitionTime : undefined
    const kept = withoutCondition(status.conditions, "Progressing")
    return { ...status, conditions: [...kept, since === undefined ? added : { ...added, lastTransitionTime: since }] }
  }
  if (isTimedOut(current, deadlineSeconds, now)) {
    return withStatusCondition(status, progressing("False", "ProgressDeadlineExceeded", "has timed out progressing."))
  }
  return status
}

function madeProgress(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const old = (status: DeploymentStatus): number => (status.replicas ?? 0) - (status.updatedReplicas ?? 0)
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    old(after) < old(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  )
}

function isTimedOut(current: DeploymentCondition | undefined, deadlineSeconds: number, now: number): boolean {
  if (current === undefined || current.reason === "NewReplicaSetAvailable") return false
  if (current.reason === "ProgressDeadlineExceeded") return true
  return updatedAt(current) + deadlineSeconds * 1000 < now
}

/** Without a time, as others may write it, long ago. */
const updatedAt = ({ lastUpdateTime }: DeploymentCondition): number =>
  Date.parse(lastUpdateTime ?? "0001-01-01T00:00:00Z")

/** Delay until the next check whether the rollout is stuck; undefined if no rollout is in progress. */
export function progressCheckMs(deployment: Deployment, status: DeploymentStatus, now: number): number | undefined {
  const deadline = progressDeadlineSeconds(deployment)
  const current = findCondition(deployment.status?.conditions, "Progressing")
  if (deadline === undefined || current === undefined) return undefined
  if (isComplete(deployment, status) || current.reason === "ProgressDeadlineExceeded") return undefined
  // One more second, because times on the wire have a resolution of one second.
  return Math.max(1000, updatedAt(current) + deadline * 1000 - now + 1000)
}
