// The status of a ReplicaSet, from its pods. Source: k8s.io/kubernetes/pkg/controller/replicaset/replica_set_utils.go.

import { errorMessage } from "../../apimachinery/error-message.ts"
import { timestamp, type Pod } from "../../apimachinery/object.ts"
import { findCondition, withCondition, withoutCondition } from "../conditions.ts"
import { isAvailable, isReady } from "../pods/pod-state.ts"
import type { ReplicaObject } from "./kinds.ts"

type ReplicaStatus = NonNullable<ReplicaObject["status"]>

interface Counted {
  active: readonly Pod[]
  /** undefined if the kind does not count them. */
  terminating: readonly Pod[] | undefined
  /** The error of creating or deleting pods in this sync. */
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
  // Zero counts are omitted on the wire (omitempty), except replicas and terminatingReplicas.
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

/** Whether the counts match the spec: no further changes are expected. */
export function hasArrived({ spec }: ReplicaObject, status: ReplicaStatus): boolean {
  const wanted = spec?.replicas ?? 1
  const { replicas, availableReplicas = 0, terminatingReplicas = 0 } = status
  return replicas === wanted && availableReplicas === wanted && terminatingReplicas === 0
}

/**
 * Whether fewer pods are available than before. A Deployment deletes pods of its other sets only while enough are available, and must
 * not count on those that this set has given up.
 */
export function hasWorsened({ status: before }: ReplicaObject, { availableReplicas = 0 }: ReplicaStatus): boolean {
  return availableReplicas < (before?.availableReplicas ?? 0)
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
