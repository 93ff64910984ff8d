// A ReplicaSet's status from its pods. Source: k8s.io/kubernetes/pkg/controller/replicaset/replica_set_utils.go.

import { errorMessage } from "../../apimachinery/error-message.ts"
import { timestamp, type Pod } from "../../apimachinery/object.ts"
import { findCondition, withCondition, withoutCondition } from "../conditions.ts"
import { isAvailable, isReady } from "../pods/pod-state.ts"
import type { ReplicaObject } from "./kinds.ts"

export type ReplicaStatus = NonNullable<ReplicaObject["status"]>

export interface Counted {
  active: readonly Pod[]
  /** undefined: the kind does not count them. */
  terminating: readonly Pod[] | undefined
  /** Why making or deleting pods failed in this round. */
  failure: unknown
  now: number
}

export function statusOf(object: ReplicaObject, { active, terminating, failure, now }: Counted): ReplicaStatus {
  const templateLabels = Object.entries(object.spec?.template?.metadata?.labels ?? {})
  const minReadySeconds = object.spec?.minReadySeconds ?? 0
  let fullyLabeled = 0
  let ready = 0
  let available = 0
  for (const pod of active) {
    const labels = pod.metadata.labels ?? {}
    if (templateLabels.every(([key, value]) => labels[key] === value)) fullyLabeled++
    if (isReady(pod)) ready++
    if (isAvailable(pod, minReadySeconds, now)) available++
  }
  const conditions = failureConditions(object, active.length, failure, now)
  // Counts of nothing are left out on the wire (omitempty), replicas and terminatingReplicas are not.
  return {
    replicas: active.length,
    ...(fullyLabeled === 0 ? {} : { fullyLabeledReplicas: fullyLabeled }),
    ...(ready === 0 ? {} : { readyReplicas: ready }),
    ...(available === 0 ? {} : { availableReplicas: available }),
    ...(terminating === undefined ? {} : { terminatingReplicas: terminating.length }),
    observedGeneration: object.metadata.generation ?? 0,
    ...(conditions.length === 0 ? {} : { conditions }),
  }
}

/** The counts are what the spec wants: pods that are on their way will not change them again. */
export function hasArrived({ spec }: ReplicaObject, status: ReplicaStatus): boolean {
  const wanted = spec?.replicas ?? 1
  const { replicas, availableReplicas = 0, terminatingReplicas = 0 } = status
  return replicas === wanted && availableReplicas === wanted && terminatingReplicas === 0
}

/** Fewer are available than were, and than are wanted: a Deployment says so, however soon another takes the place. */
export function hasWorsened(
  { spec, status: before }: ReplicaObject,
  { availableReplicas = 0 }: ReplicaStatus,
): boolean {
  return availableReplicas < Math.min(before?.availableReplicas ?? 0, spec?.replicas ?? 1)
}

function failureConditions(
  object: ReplicaObject,
  active: number,
  failure: unknown,
  now: number,
): NonNullable<ReplicaStatus["conditions"]> {
  const conditions = object.status?.conditions ?? []
  const type = "ReplicaFailure"
  if (failure === undefined) return withoutCondition(conditions, type)
  if (findCondition(conditions, type) !== undefined) return conditions
  return withCondition(conditions, {
    type,
    status: "True",
    reason: active < (object.spec?.replicas ?? 1) ? "FailedCreate" : "FailedDelete",
    message: errorMessage(failure),
    lastTransitionTime: timestamp(new Date(now)),
  })
}
